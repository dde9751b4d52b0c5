import pg from 'pg';
import { expect, test } from 'vitest';
import { listLicenses } from '../../../src/licensing/licenses/license-list-store.ts';
import type { UserCondition } from '../../../src/licensing/users/user-condition-sql.ts';
import { listUsers } from '../../../src/licensing/users/user-directory-store.ts';
import { type Ordered, userPlaces, type UserSort } from '../../../src/licensing/users/user-order-state.ts';
import { idRange } from '../../../src/platform/ids.ts';
import { openPool } from '../../security/support/pool.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService();
const { api } = service;
const { knex } = service.database;
/** Only the statements of the lists. */
const own = openPool(service.databaseUrl);
const client = new pg.Client({ connectionString: service.databaseUrl });
await client.connect();
atFileEnd(async () => {
  await client.end();
  await own.destroy();
});

const ROWS = 100_000;
/**
 * What a page may look at: a window of users with a subscription each, one range of each index, and a page. Reading all
 * users and their subscriptions is 180,000 rows here.
 */
const MOST = 95_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');
const MINUTE = 60_000;
const NOW = new Date('2026-11-21T10:00:00.000Z');
const at = (row: number) => new Date(START + row * MINUTE);

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** How many rows of tables the statements of some work look at. */
async function lookedAt(work: () => Promise<unknown>): Promise<number> {
  const statements: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  const note = (statement: (typeof statements)[number]) => void statements.push(statement);
  own.on('query', note);
  await work();
  own.off('query', note);
  let rowsLookedAt = 0;
  for (const { sql, bindings } of statements) {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, timing off, format json) ${sql}`,
      [...bindings],
    );
    for (const node of nodesOf(rows[0]!['QUERY PLAN'][0].Plan)) {
      if (node['Relation Name'] === undefined) continue;
      const passed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      rowsLookedAt += (node['Actual Rows'] + passed) * node['Actual Loops'];
    }
  }
  return rowsLookedAt;
}

/** Ids as the service would have made them at these times. */
const idsOf = (prefix: 'usr' | 'lic') =>
  Array.from({ length: ROWS }, (_, row) => idRange(prefix, { since: at(row) }).from!);

/** Common values are spread over every order; the others have few users. */
async function seedUsers(appId: string): Promise<void> {
  // The trigger that copies the ends of subscriptions would update each of them.
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into users (user_id, app_id, username, username_key, email, hwid_digest, created_at, subscription_ends_at)
     select id, $1, name, name, case when n % 2 = 0 then md5((n * 7)::text) || '@example.com' end,
       case when n % 1000 <> 7 then '\\x00'::bytea end, $2::timestamptz + (n - 1) * interval '1 minute',
       case when hash % 5 = 0 then 'infinity' when hash % 3 = 0 then timestamptz '2026-10-01'
         else timestamptz '2027-01-01' end + hash % 10000 * interval '1 minute'
     from unnest($3::text[]) with ordinality as u (id, n),
       lateral (
         select case when n % 2500 = 3 then 'rare' when n % 4 = 1 then 'a' else '' end || md5(n::text) as name
       ) x,
       lateral (select hashtext(id) & 1048575 as hash) y`,
    [appId, at(0), idsOf('usr')],
  );
  await client.query(
    `insert into subscriptions (user_id, tier, starts_at, ends_at)
     select user_id, case when hash % 500 = 1 then 'Rare' when hash % 2 = 0 then 'Pro' else 'Basic' end, '2026-01-01',
       subscription_ends_at
     from users, lateral (select hashtext(user_id) & 1048575 as hash) y
     where app_id = $1 and subscription_ends_at < 'infinity'`,
    [appId],
  );
  await client.query(
    `insert into bans (ban_id, app_id, kind, user_id, created_at)
     select 'ban_' || user_id, app_id, 'user', user_id, now() from users
     where app_id = $1 and hashtext(user_id) % 1000 = 1`,
    [appId],
  );
  await client.query('reset session_replication_role');
  // More samples, so that a plan does not depend on which rows were chosen.
  await client.query('set default_statistics_target = 1000');
  for (const table of ['users', 'subscriptions', 'bans']) await client.query(`vacuum analyze ${table}`);
}

const CONDITIONS: Readonly<Record<string, UserCondition>> = {
  banned: { banned: true },
  'not banned': { banned: false },
  'a common tier': { tier: 'Pro' },
  'a rare tier': { tier: 'Rare' },
  'a tier of none': { tier: 'Absent' },
  'a machine': { hwidBound: true },
  'no machine': { hwidBound: false },
  'created in an hour': { createdSince: at(50_000), createdUntil: at(50_060) },
  'created long ago': { createdUntil: at(60) },
  'created in the future': { createdSince: at(2 * ROWS) },
  'no subscription': { subscription: 'none' },
  'an active one': { subscription: 'active' },
  'an expired one': { subscription: 'expired' },
  'an end in an hour': {
    endsSince: new Date('2026-10-03T00:00:00.000Z'),
    endsUntil: new Date('2026-10-03T01:00:00.000Z'),
  },
  'a common beginning': { beginning: { username: 'a', email: 'a' } },
  'a rare beginning': { beginning: { username: 'rare', email: 'rare' } },
  'a beginning of none': { beginning: { username: 'zz', email: 'zz' } },
};

/** Conditions of every kind: frequent, rare, and in a range of an order. */
const COMBINED = [
  ...['banned', 'a common tier', 'a rare tier', 'no machine', 'created in an hour', 'no subscription'],
  ...['an expired one', 'a common beginning', 'a rare beginning'],
];

/** Each condition alone, and those of each kind with each other, if they concern different members. */
function* combinations(): Generator<[name: string, condition: UserCondition]> {
  yield ['all', {}];
  yield* Object.entries(CONDITIONS);
  for (const [place, name] of COMBINED.entries()) {
    for (const other of COMBINED.slice(place + 1)) {
      const [one, more] = [CONDITIONS[name]!, CONDITIONS[other]!];
      if (!Object.keys(more).some((key) => key in one)) yield [`${name}, ${other}`, { ...one, ...more }];
    }
  }
}

/** What the filters and orders are about. */
interface Seeded extends Ordered {
  readonly email: string | null;
  readonly bound: boolean;
  readonly created_at: Date;
  readonly tier: string | null;
  readonly banned: boolean;
}

const readAll = async (appId: string): Promise<Seeded[]> =>
  (
    await client.query<Seeded>(
      `select u.user_id, u.username_key, u.email, u.hwid_digest is not null as bound, u.created_at,
         u.subscription_ends_at,
         (select tier from subscriptions s where s.user_id = u.user_id and s.ends_at > $2) as tier,
         exists (select from bans b where b.user_id = u.user_id) as banned
       from users u where u.app_id = $1`,
      [appId, NOW],
    )
  ).rows;

/** The condition on a row that is already here. */
function isMatch(user: Seeded, condition: UserCondition): boolean {
  const { beginning, banned, tier, hwidBound, createdSince, createdUntil, endsSince, endsUntil } = condition;
  const ends = Number(user.subscription_ends_at);
  const status = ends === Infinity ? 'none' : ends > NOW.getTime() ? 'active' : 'expired';
  return (
    (!beginning ||
      [user.username_key, user.email ?? ''].some((text) => text.startsWith(beginning.username))) &&
    (banned === undefined || user.banned === banned) &&
    (tier === undefined || user.tier === tier) &&
    (hwidBound === undefined || user.bound === hwidBound) &&
    (!createdSince || user.created_at >= createdSince) &&
    (!createdUntil || user.created_at < createdUntil) &&
    (!condition.subscription || status === condition.subscription) &&
    (!endsSince || (ends >= endsSince.getTime() && ends !== Infinity)) &&
    (!endsUntil || ends < endsUntil.getTime())
  );
}

const compare = <Value>(one: Value, other: Value) => (one < other ? -1 : one > other ? 1 : 0);
const IN_ORDER: Readonly<Record<UserSort, (one: Seeded, other: Seeded) => number>> = {
  '-created_at': (one, other) => compare(other.user_id, one.user_id),
  username: (one, other) => compare(one.username_key, other.username_key),
  expires_at: (one, other) =>
    compare(Number(one.subscription_ends_at), Number(other.subscription_ends_at)) ||
    compare(one.user_id, other.user_id),
};

test('pages of any filter and order of users have the right ones, and look at a bounded number of rows', async () => {
  const { app_id: appId } = await newApp(api);
  await seedUsers(appId);
  const users = await readAll(appId);
  const times = { now: NOW, clock: NOW };
  const faults: string[] = [];
  for (const sort of ['-created_at', 'username', 'expires_at'] as const) {
    users.sort(IN_ORDER[sort]);
    for (const [name, condition] of combinations()) {
      const matching = users.filter((user) => isMatch(user, condition));
      for (const place of new Set([0, matching.length >> 1])) {
        const after = place === 0 ? undefined : userPlaces[sort].of(matching[place - 1]!);
        const list = () => listUsers(own, appId, condition, times, { sort, after, limit: 101 });
        const rows = place === 0 ? await lookedAt(list) : 0;
        if (rows > MOST) faults.push(`${sort} of ${name}: ${rows} rows`);
        const found = (await list()).map(({ user_id }) => user_id);
        const wanted = matching.slice(place, place + 101).map(({ user_id }) => user_id);
        if (found.join() !== wanted.join()) faults.push(`${sort} of ${name} after ${place}: other users`);
      }
    }
  }
  expect(faults).toEqual([]);
}, 300_000);

test('a page of any filter of licenses looks at a bounded number of rows', async () => {
  const { app_id: appId } = await newApp(api);
  await knex.raw(
    `insert into licenses (license_id, app_id, key_digest, key_sealed, tier, status, note, created_at)
     select id, ?, decode(md5(n::text), 'hex'), '\\x00', case when n % 40000 = 5 then 'Rare' else 'Pro' end,
       case when n % 40000 = 6 then 'banned' when n % 3 = 0 then 'redeemed' else 'unused' end,
       case when n % 50 = 0 then 'note ' || n end, now()
     from unnest(?::text[]) with ordinality as l (id, n)`,
    [appId, idsOf('lic')],
  );
  await knex.raw('vacuum analyze licenses');
  const search = (noteHas: string) => ({
    noteHas,
    keyDigest: Buffer.from('00', 'hex'),
    holderIds: ['usr_absent'],
  });
  const tooMany: string[] = [];
  for (const status of [undefined, 'unused', 'redeemed', 'paused', 'banned'] as const) {
    for (const tier of [undefined, 'Pro', 'Rare', 'Absent']) {
      for (const resellerId of [undefined, 'rsl_absent']) {
        for (const text of [undefined, 'note 5000', 'absent']) {
          const filter = { status, tier, resellerId, search: text === undefined ? undefined : search(text) };
          const rows = await lookedAt(() =>
            listLicenses(own, appId, filter, { before: undefined, limit: 101 }),
          );
          if (rows > 2_000) tooMany.push(`${JSON.stringify({ status, tier, resellerId, text })}: ${rows}`);
        }
      }
    }
  }
  expect(tooMany).toEqual([]);
}, 120_000);
