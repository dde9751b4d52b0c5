import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../src/migrations/', import.meta.url);

/** Of tables that are small where they are indexed, and those from before the first service. */
const ALLOWED = [
  'rate_limits_expire', // its table is made in the same file, by a variable name
  'sessions_token_digest',
  'applications_previous_secret_until', // a row an application
  'licenses_reseller', // of a column that was just added: without rows
  'users_email', // only where users are few
  'plans_name', // a row a plan
  'events_', // made in the same release as their table
];

test('building an index on a table that may be large blocks no one', () => {
  const found: string[] = [];
  for (const file of readdirSync(folder).filter((name) => /^\d/.test(name))) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    for (const [, name, table] of text.matchAll(/create (?:unique )?index (\w+) on (\w+)/g)) {
      if (text.includes(`create table ${table} `) || ALLOWED.some((each) => name!.startsWith(each))) continue;
      found.push(`${file}: ${name} on ${table}`);
    }
  }
  expect(found).toEqual([]);
});
