import { describe, expect, test } from 'vitest';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { tablesOf, tableUses, type TableUse } from './statements.ts';

/** Every table, by the folder of `src` whose statements read and write it. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  'access/access-tokens': ['access_tokens'],
  'access/agents': ['agents', 'agent_claims', 'agent_credentials', 'agent_delegations', 'used_assertions'],
  'access/browser-sessions': ['browser_sessions'],
  'access/developer-passwords': ['password_resets'],
  'access/oauth': ['oauth_clients', 'oauth_records'],
  'access/security-events': ['security_event_deliveries', 'security_event_receivers'],
  'accounts/api-tokens': ['api_tokens'],
  'accounts/application-keys': ['application_keys'],
  'accounts/applications': ['applications', 'application_usage'],
  'accounts/developers': ['developers', 'developer_sessions'],
  'accounts/plans': ['plans'],
  'accounts/signatures': ['nonces'],
  'commerce/billing': [
    'checkouts',
    'invoices',
    'license_quota_entries',
    'payment_notices',
    'payment_reversals',
    'plan_subscriptions',
  ],
  'commerce/machine-payments': ['machine_payments'],
  'commerce/resellers': [
    'resellers',
    'reseller_ledger',
    'reseller_prices',
    'reseller_purchases',
    'reseller_sales',
  ],
  'foundation/audit': ['audit_log'],
  'foundation/cluster': ['nodes'],
  'foundation/events': ['events', 'relay_positions'],
  'foundation/idempotency': ['idempotency_keys'],
  'foundation/installation-keys': ['data_keys'],
  'foundation/limits': ['rate_limits'],
  'foundation/signing-keys': ['signing_keys'],
  'licensing/bans': ['bans'],
  'licensing/devices': ['devices'],
  'licensing/files': ['blobs', 'files'],
  'licensing/licenses': ['licenses', 'license_counts', 'license_count_changes'],
  'licensing/sessions': ['sessions', 'session_counts', 'session_count_changes', 'session_ids'],
  'licensing/statistics': ['active_users', 'daily_statistics', 'hourly_statistics'],
  'licensing/subscriptions': ['subscriptions'],
  'licensing/users': ['users'],
  'licensing/variables': ['variables'],
  'messaging/mails': ['failed_mails'],
  'messaging/webhooks': ['webhooks', 'webhook_deliveries'],
  'platform/payments/test-processor': [
    'test_checkouts',
    'test_credits',
    'test_invoices',
    'test_notices',
    'test_payments',
    'test_refunds',
    'test_subscriptions',
  ],
};

/** Schemas and tables that a library creates and writes for a folder. Only some of the statements are ours. */
const LIBRARIES = { 'platform/jobs': 'pgboss.', migrations: 'schema_migrations' };

/**
 * Statements that read tables of other domains, with the reason: `file -> table`. This list may only shrink. To remove
 * an entry, call the other domain through its `<x>.ts`.
 */
const READ_ACROSS: Readonly<Record<string, string>> = {
  'src/accounts/applications/user-seat-store.ts -> developers':
    'One statement compares the users of an application with the plan and counts one more, ' +
    'so that no two registrations take the last seat.',
  'src/accounts/applications/user-seat-store.ts -> plans': 'As above.',
  'src/accounts/developers/quota-store.ts -> plans':
    'One statement compares what a developer has used with the plan and counts more, ' +
    'so that no two requests take the last of it.',
  'src/licensing/sessions/session-facts-store.ts -> applications':
    'Verification is the hot path: one statement reads everything that it needs, for many sessions at one moment.',
  'src/licensing/sessions/session-facts-store.ts -> subscriptions': 'As above.',
  'src/licensing/sessions/session-facts-store.ts -> users': 'As above.',
  'src/licensing/statistics/statistics-store.ts -> applications':
    'Publication of events counts them in the same transaction: ' +
    'the statement leaves out applications whose rows are gone.',
  'src/licensing/users/user-bulk-store.ts -> subscriptions':
    'The next users with a running subscription are found and locked in one statement, however many users have none.',
  'src/licensing/users/user-condition-sql.ts -> bans':
    'A page of users is filtered where it is read: no other way costs the same in any number of users.',
  'src/licensing/users/user-condition-sql.ts -> subscriptions': 'As above.',
  'src/licensing/users/user-directory-store.ts -> bans': 'As above.',
  'src/licensing/users/user-directory-store.ts -> subscriptions': 'As above.',
};

/** Tables that only a trigger of their own domain writes, with the reason. */
const WRITTEN_BY_TRIGGER: Readonly<Record<string, string>> = {
  reseller_sales: 'Its rows are sums of the ledger, also of entries that an older version writes.',
};

/** Files that may use the tables of every domain. */
const EVERYWHERE: Readonly<Record<string, string>> = {
  'src/access/restoration/restoration-store.ts':
    'One list says what happens to every table after a restoration from a backup; a test checks that it is complete.',
};

/** Helpers of stores, which pass the table name. */
const HELPERS = ['src/platform/database/previous-secrets.ts', 'src/platform/database/reseal.ts'];

const owners = new Map(
  Object.entries(OWNERS).flatMap(([owner, tables]) => tables.map((table) => [table, owner] as const)),
);

function ownerOf(table: string): string | undefined {
  const library = Object.entries(LIBRARIES).find(([, beginning]) => table.startsWith(beginning));
  return owners.get(table) ?? library?.[0];
}

/** Not the name of a CTE or function. */
const isTable = (use: TableUse): use is TableUse & { table: string } =>
  use.table !== undefined && ownerOf(use.table) !== undefined;

const uses = tableUses(['src/**/*-store.ts', 'src/**/*-sql.ts', 'src/platform/database/*.ts']);
const foreign = uses
  .filter(isTable)
  .filter(({ file, table }) => !file.startsWith(`src/${ownerOf(table)}/`) && !(file in EVERYWHERE));

describe('each table belongs to one domain', () => {
  test('every table of a migrated database has one owner', async () => {
    const client = await connectTo(await createTestDatabase());
    const { rows } = await client.query<{ name: string }>(
      `select case schemaname when 'public' then '' else schemaname || '.' end || tablename as name
       from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const tables = rows.map(({ name }) => name);
    const known = Object.values(OWNERS).flat();
    expect(new Set(known).size).toBe(known.length);
    expect(tables.filter((table) => ownerOf(table) === undefined)).toEqual([]);
    expect(known.filter((table) => !tables.includes(table))).toEqual([]);
  });

  test('statements name tables of their own domain, except for a list that may only shrink', () => {
    const found = new Set(foreign.map(({ file, table }) => `${file} -> ${table}`));
    expect([...found].sort()).toEqual(Object.keys(READ_ACROSS));
    expect(Object.keys(EVERYWHERE).filter((file) => !uses.some((use) => use.file === file))).toEqual([]);
  });

  test('only its own domain writes a table', () => {
    expect(foreign.filter(({ written }) => written)).toEqual([]);
    const written = uses.filter(isTable).filter((use) => use.written);
    const writtenByOwner = new Set(
      written.filter(({ file }) => !(file in EVERYWHERE)).map(({ table }) => table),
    );
    const unwritten = [...owners.keys()].filter((table) => !writtenByOwner.has(table));
    expect(unwritten).toEqual(Object.keys(WRITTEN_BY_TRIGGER));
  });

  test('statements contain table names as constants', () => {
    const unknown = uses.filter(({ table }) => table === undefined).map(({ file }) => file);
    expect([...new Set(unknown)]).toEqual(HELPERS);
  });
});

test.each<[sql: string, tables: string[], written?: string[]]>([
  [
    'select 1 from a join b using (x) left join lateral (select from c, d as e, f) g on true, h',
    [...'abcdfh'],
  ],
  ['insert into a (x, y) select x, y from b on conflict do update set x = 1', ['a', 'b'], ['a']],
  ['update a set x = b.x, y = 2 from b, c d where a.x = (select max(x) from e)', ['a', 'b', 'c', 'e'], ['a']],
  ['delete from a using b where x in (1, 2) returning x, y', ['a', 'b'], ['a']],
  ['with q as (select x, y from a for no key update), r as (select 1) select * from q, r', ['a', 'q', 'r']],
  ["select x from only s.a where y = 'from b' order by x, y for update of a skip locked", ['s.a']],
  ['lock table a, b in share mode', ['a', 'b'], ['a', 'b']],
])('%s', (sql, tables, written = []) => {
  const found = tablesOf(sql);
  expect(found.map(({ table }) => table)).toEqual(tables);
  expect(found.filter((name) => name.written).map(({ table }) => table)).toEqual(written);
});
