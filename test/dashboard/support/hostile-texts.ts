import type { Page } from 'playwright-core';

/** The members of responses that users, developers, programs and other services write. */
const WRITTEN = new Set([
  ...['name', 'username', 'role', 'note', 'tier', 'value', 'version', 'description', 'reason', 'features'],
  ...['app_name', 'application_name', 'client_name', 'plan_name', 'subscription_tier', 'redeemed_by'],
  ...[
    'ban_reason',
    'disabled_reason',
    'suspension_reason',
    'last_fault',
    'error',
    'response_body',
    'payload',
  ],
  ...['tiers', 'mask', 'reference', 'minimum_version'],
  ...['issuer', 'subject', 'user_agent', 'message', 'title', 'detail'],
]);

/** Markup that runs a script, quotes, an isolate and an override that are never closed, and no place for a break. */
const HOSTILE = ` <img src=x onerror=alert(1)>"'\u2067\u202eevil${'W'.repeat(128)}`.slice(0, 110);

function spoil(value: unknown, isWritten = false): unknown {
  // A text that is JSON stays so, because pages format it.
  if (typeof value === 'string') return isWritten && !value.startsWith('{') ? value + HOSTILE : value;
  if (Array.isArray(value)) return value.map((each) => spoil(each, isWritten));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, spoil(member, WRITTEN.has(name))]),
  );
}

/**
 * Makes every text that someone has written hostile, in all responses to the page. It keeps its beginning.
 * @returns how many responses had one
 */
export async function spoilTexts(page: Page): Promise<() => number> {
  let spoiled = 0;
  await page.route(/\/api\//, async (route) => {
    if (route.request().url().includes('/events/stream')) return route.continue();
    const response = await route.fetch();
    if (!response.headers()['content-type']?.includes('json')) return route.fulfill({ response });
    const json = JSON.stringify(spoil(await response.json()));
    if (json.includes('onerror')) spoiled += 1;
    return route.fulfill({ response, body: json });
  });
  return () => spoiled;
}
