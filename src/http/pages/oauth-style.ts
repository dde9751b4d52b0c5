import { PAYMENT_STYLE } from './payment-style.ts';

/** The style of the authorization server's pages, based on that of the payment pages. */
export const OAUTH_STYLE = `${PAYMENT_STYLE}
  .brand { margin: 0 0 1rem; font-weight: 650; letter-spacing: -.01em; color: var(--soft); }
  .scopes { margin: 1.25rem 0 0; list-style: none; border-top: 1px solid var(--line); }
  .scopes li { padding: .8rem 0; border-bottom: 1px solid var(--line); display: flex; gap: .75rem; }
  .scopes li::before { content: ""; flex: none; width: .5rem; height: .5rem; margin-top: .5rem; border-radius: 50%;
    background: var(--accent); }
  .scopes li.grave::before { background: var(--bad); }
  .note { margin-top: 1.25rem; background: var(--warn-ground); color: var(--warn); border: 1px solid var(--warn-line);
    border-radius: 10px; padding: .8rem 1rem; font-size: .9375rem; overflow-wrap: anywhere; }
  .choices { display: grid; gap: .75rem; margin-top: 1.5rem; }
  .code { display: block; margin-top: 1.25rem; padding: 1rem; border-radius: 10px; background: var(--well);
    border: 1px solid var(--line);
    text-align: center; font: 650 1.75rem/1.2 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
      letter-spacing: .12em; }
  input.code-field { text-transform: uppercase;
    font: 600 1.375rem ui-monospace, "SF Mono", Menlo, Consolas, monospace; letter-spacing: .12em;
    text-align: center; }
  .card p + p, .card .alert { margin-top: .9rem; }
  .card h2 { margin-top: 1.5rem; font-size: 1rem; }
  .card h2 + .scopes { margin-top: .6rem; }
  .card .facts { margin-top: 1.25rem; }
  h1, strong { overflow-wrap: anywhere; }
`;
