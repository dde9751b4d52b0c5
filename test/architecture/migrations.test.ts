import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../src/migrations/', import.meta.url);

/** Indexes of tables that are small at the time, and those from before the first release. */
const ALLOWED = [
  'rate_limits_expire', // its table is created in the same file, by a variable name
  'sessions_token_digest',
  'applications_previous_secret_until', // one row per application
  'licenses_reseller', // of a column that was just added, without rows
  'users_email', // only if there are few users
  'plans_name', // one row per plan
  'events_', // created in the same release as their table
];

test('building an index on a table that may be large does not block writers', () => {
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
