import { STATUS_CODES } from 'node:http';
import { catalog, errorSlug, type CatalogEntry, type ErrorCode } from '../../foundation/errors/catalog.ts';
import type { Services } from '../../services.ts';
import type { Deprecated } from '../contract/deprecation.ts';

const STYLE = `
  :root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7b; --line: #d8e0e8; --paper: #fbfcfd;
    --accent: #0b5fae; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e6edf3; --soft: #9aa9b8; --line: #2c3947; --paper: #0f1620; --accent: #6db3f8; }
  }
  body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
  main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem; }
  a { color: var(--accent); }
  h1 { font-size: 1.9rem; line-height: 1.2; margin: .25rem 0 1rem; }
  code { font: .92em ui-monospace, monospace; }
  .soft { color: var(--soft); }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
  dt { color: var(--soft); margin-top: 1rem; } dd { margin: .15rem 0 0; }`;

/** The page behind `type` and `docs_url` of an error. */
export function errorPage(code: ErrorCode): string {
  const entry: CatalogEntry = catalog[code];
  const statuses = entry.statuses.map((status) => `${status} ${STATUS_CODES[status]}`).join(', ');
  return page(
    entry.title,
    `<p class="soft"><a href="/">Latchkey</a> / <a href="/errors">errors</a></p>
    <h1>${escape(entry.title)}</h1>
    <dl>
      <dt>Code</dt><dd><code>${code}</code></dd>
      <dt>HTTP status</dt><dd>${escape(statuses)}</dd>
      <dt>What happened</dt><dd>${escape(entry.detail)}</dd>
      <dt>What to do</dt><dd>${escape(entry.hint)}</dd>
    </dl>`,
  );
}

/** All errors in one table. */
export function errorIndexPage(codes: readonly ErrorCode[]): string {
  const rows = codes.map((code) => {
    const entry: CatalogEntry = catalog[code];
    const link = `<a href="/errors/${errorSlug(code)}"><code>${code}</code></a>`;
    return `<tr><td>${entry.statuses.join(', ')}</td><td>${link}</td><td>${escape(entry.detail)}</td></tr>`;
  });
  return page(
    'Errors',
    `<p class="soft"><a href="/">Latchkey</a></p><h1>Errors</h1>
    <table><thead><tr><th>Status</th><th>Code</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  );
}

/** The deprecated operations and their replacements. */
export function deprecationsPage(deprecated: readonly Deprecated[]): string {
  const rows = deprecated.map(
    ({ operationId, path, since, sunset, successorPath }) =>
      `<tr id="${operationId}"><td><code>${escape(path)}</code></td><td>${day(since)}</td><td>${day(sunset)}</td>` +
      `<td><code>${escape(successorPath)}</code></td></tr>`,
  );
  return page(
    'Deprecations',
    `<p class="soft"><a href="/">Latchkey</a></p><h1>Deprecations</h1>
    <p>A deprecated operation works as before until its sunset, 365 days later. Its responses have the headers
    <code>Deprecation</code>, <code>Sunset</code> and <code>Link</code>.</p>
    <table><thead><tr><th>Operation</th><th>Deprecated</th><th>Sunset</th><th>Use instead</th></tr></thead>
    <tbody>${rows.join('')}</tbody></table>`,
  );
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The page at the root of the service. */
export function homePage(): string {
  return page(
    'Latchkey',
    `<h1>Latchkey</h1>
    <p>Licensing and authentication for desktop and native applications.</p>
    <dl>
      <dt>API reference</dt><dd><a href="/openapi.json">openapi.json</a>, OpenAPI 3.0.3: generate a client from it</dd>
      <dt>For agents</dt><dd><a href="/llms.txt">llms.txt</a>, an overview; <a href="/auth.md">auth.md</a>, how to get
      credentials; <a href="/.well-known/agent-skills/auth/SKILL.md">SKILL.md</a>, the same step by step</dd>
      <dt>Errors</dt><dd><a href="/errors">every code, and what to do about it</a></dd>
      <dt>Deprecations</dt><dd><a href="/deprecations">what will be removed, when, and what replaces it</a></dd>
      <dt>Health</dt><dd><a href="/health">whether the service is operational</a></dd>
    </dl>`,
  );
}

type CheckoutState = NonNullable<Awaited<ReturnType<Services['checkouts']['stateOf']>>>;

const CHECKOUT_STATES: Readonly<Record<CheckoutState['status'], string>> = {
  open: 'This purchase has not been paid yet.',
  processing:
    'Your bank is processing the payment. You get your purchase as soon as the payment is complete.',
  paid: 'Thank you. The payment is complete, and your purchase is active.',
  failed: 'The payment failed. You were not charged.',
  expired: 'The purchase expired before it was paid. Start again to buy it.',
};

/** The page to which a payer returns if the checkout names no other. */
export function checkoutStatePage({ planName, status }: CheckoutState): string {
  return page(
    'Checkout',
    `<p class="soft"><a href="/">Latchkey</a></p><h1>${escape(planName)}</h1>
    <p role="status">${CHECKOUT_STATES[status]}</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escape(title)}${title === 'Latchkey' ? '' : ' - Latchkey'}</title>
  <style>${STYLE}</style>
</head>
<body><main>${body}</main></body>
</html>
`;
}

/** Escapes text for HTML, including attributes in double quotes. */
export function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
