import type { Page } from 'playwright-core';

/** The members of responses that users, developers, programs and other services write. */
const WRITTEN = new Set([
  ...['name', 'username', 'role', 'note', 'tier', 'value', 'version', 'description', 'reason', 'features'],
  ...['app_name', 'application_name', 'client_name', 'plan_name', 'subscription_tier'],
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

/** Those whose values have fewer than 128 characters. The contract limits them to 64 or 100. */
const SHORT = new Set([
  ...['name', 'username', 'role', 'tier', 'tiers', 'version', 'minimum_version', 'features', 'mask'],
  ...['app_name', 'application_name', 'client_name', 'plan_name', 'subscription_tier', 'redeemed_by'],
]);

/** Markup that runs a script, quotes, an isolate and an override that are never closed, and no place for a break. */
const MARKUP = ` <img src=x onerror=alert(1)>"'\u2067\u202eevil`;
const HOSTILE = MARKUP.padEnd(128, 'W');
const SHORT_HOSTILE = MARKUP.padEnd(100, 'W');

/** @param name of the member that has the value, if someone has written it */
function spoil(value: unknown, name?: string): unknown {
  // A text that is JSON stays so, because pages format it.
  if (typeof value === 'string' && name !== undefined && !value.startsWith('{'))
    return value + (SHORT.has(name) ? SHORT_HOSTILE : HOSTILE);
  if (Array.isArray(value)) return value.map((each) => spoil(each, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, spoil(member, WRITTEN.has(key) ? key : undefined)]),
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
