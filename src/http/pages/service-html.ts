import type { Services } from '../../services.ts';
import type { Deprecated } from '../contract/deprecation.ts';
import { escape, page, table } from './html.ts';

/** The deprecated operations and their replacements. */
export function deprecationsPage(deprecated: readonly Deprecated[], root: string): string {
  const rows = deprecated.map(
    ({ operationId, path, since, sunset, successorPath }) =>
      `<tr id="${operationId}"><td><code>${escape(path)}</code></td><td>${day(since)}</td><td>${day(sunset)}</td>` +
      `<td><code>${escape(successorPath)}</code></td></tr>`,
  );
  return page(
    'Deprecations',
    `<h1>Deprecations</h1>
    <p>A deprecated operation works as before until its sunset, 365 days later. Its responses have the headers
    <code>Deprecation</code>, <code>Sunset</code> and <code>Link</code>.</p>
    ${table(['Operation', 'Deprecated', 'Sunset', 'Use instead'], rows, 'Deprecated operations')}`,
    { root },
  );
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The page at the root of the service. @param baseUrl where the first request is sent */
export function homePage(root: string, baseUrl: string): string {
  const door = (path: string, name: string, text: string) =>
    `<a class="door" href="${root}${path}"><strong>${name}</strong><span>${text}</span></a>`;
  return page(
    'Latchkey',
    `<div class="hero"><div>
      <h1>Licensing and authentication for desktop and native applications</h1>
      <p>Your users sign in, redeem license keys, and stay bound to their machine. You see every login, and control
      who may run which version.</p>
      <p class="choices"><a class="button" href="${root}/dashboard">Open the dashboard</a>
        <a class="button plain" href="${root}/docs">Read the API reference</a></p>
    </div>
    <figure><figcaption>Your first request: create an account</figcaption>
      <pre tabindex="0"><code>${escape(firstRequest(baseUrl))}</code></pre></figure></div>
    <h2>For you</h2>
    <div class="doors">
      ${door('/dashboard', 'Dashboard', 'Applications, licenses, users, webhooks and statistics.')}
      ${door('/docs', 'API reference', 'Every operation, with examples in eight languages. Send requests from here.')}
      ${door('/docs/operations', 'Plain pages', 'The same operations, a page each, without JavaScript.')}
      ${door('/errors', 'Errors', 'Every error code, and what to do about it.')}
      ${door('/deprecations', 'Deprecations', 'What will be removed, when, and what replaces it.')}
      ${door('/health', 'Status', 'Whether the service is operational.')}
    </div>
    <h2>For your programs and agents</h2>
    <div class="doors">
      ${door('/openapi.json', 'openapi.json', 'The contract, OpenAPI 3.0.3. Generate a client from it.')}
      ${door('/llms.txt', 'llms.txt', 'An overview for language models.')}
      ${door('/auth.md', 'auth.md', 'How agents get credentials.')}
      ${door('/.well-known/agent-skills/auth/SKILL.md', 'SKILL.md', 'The same as a skill, step by step.')}
    </div>`,
    { root, kind: 'front' },
  );
}

function firstRequest(baseUrl: string): string {
  return [
    `curl -X POST ${baseUrl}/api/v2/dev/register \\`,
    "  -H 'Content-Type: application/json' \\",
    `  --data-binary '{`,
    '    "email": "you@example.com",',
    '    "password": "a long password"',
    "  }'",
  ].join('\n');
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
export function checkoutStatePage({ planName, status }: CheckoutState, root: string): string {
  return page(
    'Checkout',
    `<h1>${escape(planName)}</h1>
    <p role="status">${CHECKOUT_STATES[status]}</p>`,
    { root },
  );
}
