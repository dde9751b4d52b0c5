import type { Services } from '../../services.ts';
import type { Deprecated } from '../contract/deprecation.ts';
import { escape, page, table } from './html.ts';

/** The deprecated operations and their replacements. */
export function deprecationsPage(deprecated: readonly Deprecated[], root: string): string {
  const rows = deprecated.map(
    ({ operationId, path, since, sunset, successorPath }) =>
      `<tr id="${operationId}"><td><code>${escape(path)}</code></td><td data-label="Deprecated">${day(since)}</td>` +
      `<td data-label="Sunset">${day(sunset)}</td>` +
      `<td data-label="Use instead"><code>${escape(successorPath)}</code></td></tr>`,
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
  const entry = (path: string, name: string, text: string) =>
    `<li><a href="${root}${path}">${name}</a> <span>${text}</span></li>`;
  return page(
    'Latchkey',
    `<div class="hero"><div>
      <h1>Licensing and authentication for desktop and native applications</h1>
      <p>Your users sign in, redeem license keys, and stay bound to their machine. You see every login, and control
      who may run which version.</p>
      <p class="choices"><a class="button" href="${root}/dashboard/sign-up">Create an account</a>
        <a class="button plain" href="${root}/dashboard">Sign in</a></p>
    </div>
    <figure><figcaption>Or create it with your first request</figcaption>
      <pre tabindex="0"><code>${escape(firstRequest(baseUrl))}</code></pre></figure></div>
    <div class="doors">
      ${door('/dashboard', 'Dashboard', 'Applications, licenses, users, webhooks, statistics and invoices.')}
      ${door('/docs', 'API reference', 'Every operation, with examples in eight languages. Send requests from here.')}
      ${door('/guides', 'Guides', 'Client programs, license keys, webhooks, payments and agents, step by step.')}
      ${door('/health', 'Status', 'Whether the service is operational, as JSON.')}
    </div>
    <div class="more">
      <section><h2>Look up</h2><ul>
        ${entry('/docs/operations', 'Operations', 'Every operation on a plain page.')}
        ${entry('/errors', 'Errors', 'Every error code, and what to do about it.')}
        ${entry('/deprecations', 'Deprecations', 'What will be removed, when, and what replaces it.')}
      </ul></section>
      <section><h2>For programs and agents</h2><ul>
        ${entry('/openapi.json', 'openapi.json', 'The contract, OpenAPI 3.0.3. Generate a client from it.')}
        ${entry('/llms.txt', 'llms.txt', 'An overview for language models.')}
        ${entry('/auth.md', 'auth.md', 'How agents get credentials.')}
        ${entry('/.well-known/agent-skills/auth/SKILL.md', 'SKILL.md', 'The same as a skill, step by step.')}
      </ul></section>
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
