import { describe, expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { ban, lift, newApp, newDeveloper, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, type UserView } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;
const app = await newApp(api);

interface List {
  readonly data: UserView[];
  readonly next_cursor: string | null;
}

const list = (query = '', of = app) => callUsers<List>(api, of, 'GET', query);
const names = async (query = '', of = app) =>
  (await list(query, of)).body.data.map(({ username }) => username);
const create = (username: string, more: object = {}, of = app) =>
  callUsers<UserView>(api, of, 'POST', '', { username, ...more });

await create('Alpha', { email: 'Zed@one.example' });
clock.advance(SECOND);
await create('alphabet', { email: 'grace@two.example' });
clock.advance(SECOND);
await create('Straße');
clock.advance(SECOND);
await create('100%_sure');

test('newest first, in pages without overlaps or gaps', async () => {
  expect(await names()).toEqual(['100%_sure', 'Straße', 'alphabet', 'Alpha']);
  const first = await list('?limit=3');
  expect(first.body.data).toHaveLength(3);
  const second = await list(`?limit=3&cursor=${first.body.next_cursor}`);
  expect(second.body.data.map(({ username }) => username)).toEqual(['Alpha']);
  expect(second.body.next_cursor).toBeNull();
  const narrow = await list('?q=alpha&limit=1');
  expect(narrow.body.next_cursor).not.toBeNull();
  expect(await names(`?q=alpha&limit=1&cursor=${narrow.body.next_cursor}`)).toEqual(['Alpha']);
});

test.each([
  ['alp', ['alphabet', 'Alpha']],
  ['ALPHAB', ['alphabet']],
  ['strasse', ['Straße']],
  ['STRASS', ['Straße']],
  ['zed', ['Alpha']],
  ['Grace@TWO', ['alphabet']],
  ['100%', ['100%_sure']],
  ['%', []],
  ['_', []],
  ['pha', []],
  ["'; drop table users; --", []],
])('q=%s', async (q, expected) => {
  expect(await names(`?q=${encodeURIComponent(q)}`)).toEqual(expected);
});

test('by ban, tier, machine and age, also combined', async () => {
  const own = await newApp(api);
  const ids: Record<string, string> = {};
  for (const name of ['banned', 'free', 'pro', 'over']) {
    ids[name] = (await create(name, { password: 'a user password' }, own)).body.user_id;
    clock.advance(SECOND);
  }
  const extend = (name: string, tier: string) =>
    callUsers(api, own, 'POST', `/${ids[name]}/extend`, { tier, days: 1 });
  await extend('over', 'Pro');
  clock.advance(3600 * SECOND);
  await extend('pro', 'Pro');
  await extend('pro', 'Standard');
  await ban(api, own, { kind: 'user', username: 'banned' });
  const lifted = await ban(api, own, { kind: 'user', username: 'free' });
  await lift(api, own, lifted);
  await api.login(own.with({ username: 'free', password: 'a user password', hwid: 'machine' }));
  await ban(api, own, { kind: 'hardware', hwid: 'machine' });
  expect(await names('?banned=true', own)).toEqual(['banned']);
  expect(await names('?banned=false', own)).toEqual(['over', 'pro', 'free']);
  expect(await names('?hwid_bound=true', own)).toEqual(['free']);
  expect(await names('?hwid_bound=false&banned=false', own)).toEqual(['over', 'pro']);
  expect(await names('?tier=Pro', own)).toEqual(['over', 'pro']);
  expect(await names('?tier=Standard', own)).toEqual([]);
  expect(await names('?tier=Pro&q=p', own)).toEqual(['pro']);
  const { body } = await callUsers<UserView>(api, own, 'GET', `/${ids['free']}`);
  expect(await names(`?created_since=${body.created_at}`, own)).toEqual(['over', 'pro', 'free']);
  expect(await names(`?created_until=${body.created_at}`, own)).toEqual(['banned']);
  expect(await names(`?created_since=${inDays(clock, 1)}`, own)).toEqual([]);
});

test('a prefix of thousands of names, and one of a few', async () => {
  const large = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  await database.query(
    `insert into users (user_id, app_id, username, username_key, email, created_at)
     select 'usr_' || lpad(n::text, 26, '0'), $1, 'u' || n, 'u' || n, 'mail' || n || '@example.com', now()
     from generate_series(1, 3000) n`,
    [large.app_id],
  );
  expect(await names('?q=u&limit=3', large)).toEqual(['u3000', 'u2999', 'u2998']);
  expect(await names('?q=mail&limit=2', large)).toEqual(['u3000', 'u2999']);
  expect(await names('?q=u299&limit=2', large)).toEqual(['u2999', 'u2998']);
  expect(await names('?q=MAIL123%40', large)).toEqual(['u123']);
  const counted = new Set<string>();
  let cursor = '';
  do {
    const { body } = await list(`?q=u1&limit=100${cursor && `&cursor=${cursor}`}`, large);
    for (const { username } of body.data) counted.add(username);
    cursor = body.next_cursor ?? '';
  } while (cursor);
  expect(counted.size).toBe(1111);
});

test('a prefix is looked up in the indexes', async () => {
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where indexname in ('users_email', 'users_username_key') order by indexname`,
  );
  expect(rows.map(({ indexdef }) => indexdef)).toEqual([
    expect.stringContaining('lower(email) COLLATE "C"'),
    expect.stringContaining('(app_id, username_key)'),
  ]);
  await database.query('set enable_seqscan = off');
  for (const condition of [
    `u.username_key >= 'a' and u.username_key < 'b'`,
    `u.email is not null and lower(u.email) collate "C" >= 'a' and lower(u.email) collate "C" < 'b'`,
  ]) {
    const plan = await database.query<{ 'QUERY PLAN': string }>(
      `explain select u.user_id from users u where u.app_id = 'x' and ${condition} limit 1001`,
    );
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      /Index Cond: .*(username_key|lower\(email\)).* >= /,
    );
  }
});

describe('subscriptions', () => {
  /** Users with a subscription until a number of days from now, by name; null for a lifetime. */
  async function withEnds(ends: Record<string, number | null>, developer?: Developer) {
    const own = await newApp(api, developer);
    for (const [name, days] of Object.entries(ends)) {
      const { body } = await create(name, {}, own);
      clock.advance(SECOND);
      if (days === 0) continue;
      const time = days === null ? { lifetime: true } : { days };
      await callUsers(api, own, 'POST', `/${body.user_id}/extend`, { tier: 'Pro', ...time });
    }
    return own;
  }

  test('by status, by end, and in three orders', async () => {
    const developer = await newDeveloper(api);
    const own = await withEnds({ Eve: 3, adam: 0, Carl: null, bea: 1, Zoë: 1, dora: 0 }, developer);
    const { token } = (await api.post<{ token: string }>('/api/v2/dev/login', developer)).body;
    const now = async (query: string) => names(query, { ...own, token });
    expect(await now('?subscription=active')).toEqual(['Zoë', 'bea', 'Carl', 'Eve']);
    expect(await now('?subscription=none')).toEqual(['dora', 'adam']);
    expect(await now('?subscription=expired')).toEqual([]);
    expect(await now('?sort=username')).toEqual(['adam', 'bea', 'Carl', 'dora', 'Eve', 'Zoë']);
    expect(await now('?sort=expires_at')).toEqual(['bea', 'Zoë', 'Eve', 'Carl', 'adam', 'dora']);
    expect(await now('?sort=-created_at')).toEqual(['dora', 'Zoë', 'bea', 'Carl', 'adam', 'Eve']);
    expect(await now(`?expires_until=${inDays(clock, 2)}`)).toEqual(['Zoë', 'bea']);
    expect(await now(`?expires_since=${inDays(clock, 2)}`)).toEqual(['Carl', 'Eve']);
    expect(await now('?expires_since=9999-12-31T23:59:59.999Z')).toEqual(['Carl']);
    expect(
      await now(`?expires_since=${inDays(clock, 0)}&expires_until=${inDays(clock, 4)}&sort=username`),
    ).toEqual(['bea', 'Eve', 'Zoë']);
    expect(await now('?subscription=active&q=c&sort=expires_at')).toEqual(['Carl']);
    clock.advance(2 * 86_400 * SECOND);
    const later = (await api.post<{ token: string }>('/api/v2/dev/login', developer)).body.token;
    const then = async (query: string) => names(query, { ...own, token: later });
    expect(await then('?subscription=expired&sort=username')).toEqual(['bea', 'Zoë']);
    expect(await then('?subscription=active')).toEqual(['Carl', 'Eve']);
  });

  test('a pause moves the ends, and deletes no time', async () => {
    const developer = await newDeveloper(api);
    const own = await withEnds({ ada: 1 }, developer);
    await own.patch({ status: 'paused' });
    clock.advance(5 * 86_400 * SECOND);
    const { token } = (await api.post<{ token: string }>('/api/v2/dev/login', developer)).body;
    const now = async (query: string) => names(query, { ...own, token });
    expect(await now('?subscription=active')).toEqual(['ada']);
    expect(await now(`?expires_until=${inDays(clock, 1.1)}&expires_since=${inDays(clock, 0.9)}`)).toEqual([
      'ada',
    ]);
  });

  test.each(['username', 'expires_at', '-created_at'])(
    'pages by %s without gaps or overlaps',
    async (sort) => {
      const own = await withEnds({ b: 1, a: 1, f: 0, c: 2, e: 0, d: null });
      const whole = await names(`?sort=${sort}`, own);
      const found: string[] = [];
      let cursor = '';
      do {
        const { body } = await list(`?sort=${sort}&limit=1${cursor && `&cursor=${cursor}`}`, own);
        found.push(...body.data.map(({ username }) => username));
        cursor = body.next_cursor ?? '';
      } while (cursor);
      expect(found).toEqual(whole);
      expect(found.toSorted()).toEqual([...'abcdef']);
      const { body } = await list(`?sort=${sort}&limit=1`, own);
      const other = sort === 'username' ? 'expires_at' : 'username';
      expectFaults(await list(`?sort=${other}&cursor=${body.next_cursor}`, own), 'query/cursor');
    },
  );

  test.each([
    'expires_at 999999999999999 usr_01kazm6t0hfa8bk4n2q7r9s1vx',
    'expires_at 1 usr_1',
    'expires_at infinity',
    'username \u0000',
    'username ',
  ])('the cursor %j is refused', async (place) => {
    const cursor = Buffer.from(place).toString('base64url');
    const sort = place.split(' ')[0];
    expectFaults(await list(`?sort=${sort}&cursor=${cursor}`, await newApp(api)), 'query/cursor');
  });

  test('a name of 64 characters of four bytes is a cursor', async () => {
    const own = await newApp(api);
    for (const last of ['\u{20000}', '\u{20001}']) await create('\u{20000}'.repeat(63) + last, {}, own);
    const { body } = await list('?sort=username&limit=1', own);
    expect(await names(`?sort=username&limit=1&cursor=${body.next_cursor}`, own)).toHaveLength(1);
  });
});

test('100,000 users: pages of every order and status, by indexes', async () => {
  const large = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  // The oldest have subscriptions that have ended, so a walk from the newest would find them last.
  await database.query(
    `insert into users (user_id, app_id, username, username_key, created_at, subscription_ends_at)
     select 'usr_l' || lpad(n::text, 25, '0'), $1, 'n' || n, 'n' || n, now(),
       case when n <= 60000 then timestamptz '2026-01-01' + n * interval '1 minute'
         when n <= 60010 then timestamptz '2030-01-01' else 'infinity' end
     from generate_series(1, 100000) n`,
    [large.app_id],
  );
  await database.query('vacuum analyze users');
  for (const [query, first] of [
    ['?subscription=expired', 'n60000'],
    ['?subscription=active', 'n60010'],
    ['?subscription=none', 'n100000'],
    ['?subscription=expired&sort=username', 'n1'],
    ['?subscription=expired&sort=expires_at', 'n1'],
    ['?subscription=active&sort=expires_at', 'n60001'],
    ['?subscription=expired&hwid_bound=false', 'n60000'],
    ['?sort=expires_at', 'n1'],
    ['?sort=username', 'n1'],
  ] as const) {
    const found = await names(`${query}&limit=3`, large);
    expect(found[0], query).toBe(first);
  }
  await database.query('set enable_seqscan = off; set enable_bitmapscan = off');
  const planOf = async (sql: string) => {
    const { rows } = await database.query<{ 'QUERY PLAN': string }>(`explain ${sql}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  const own = `from users u where u.app_id = '${large.app_id}'`;
  expect(await planOf(`select * ${own} order by u.subscription_ends_at, u.user_id limit 21`)).toMatch(
    /Index Scan using users_subscription_end/,
  );
  expect(await planOf(`select * ${own} order by u.username_key limit 21`)).toMatch(
    /Index Scan using users_username_key/,
  );
  expect(await planOf(`select * ${own} order by u.user_id desc limit 20000`)).toMatch(
    /Index Scan Backward using users_(app|pkey)/,
  );
  expect(
    await planOf(`select r.user_id from (select u.user_id ${own} and u.subscription_ends_at <= now() offset 0) r
      order by r.user_id desc limit 21`),
  ).toMatch(/Index Only Scan using users_subscription_end/);
}, 120_000);

test('another application’s users are not among them', async () => {
  expect(await names('', await newApp(api))).toEqual([]);
});

test('APPLICATION_NOT_FOUND', async () => {
  const other = await newApp(api);
  expectError(await list('', { ...app, token: other.token }), 404, 'APPLICATION_NOT_FOUND');
});

test('VALIDATION_FAILED', async () => {
  const fresh = await newApp(api);
  expectFaults(await list('?banned=yes', fresh), 'query/banned');
  expectFaults(await list('?hwid_bound=', fresh), 'query/hwid_bound');
  expectFaults(await list('?created_since=yesterday', fresh), 'query/created_since');
  expectFaults(await list('?q=', fresh), 'query/q');
  expectFaults(await list('?q=%00', fresh), 'query/q');
  expectFaults(await list('?limit=101', fresh), 'query/limit');
  expectFaults(await list('?cursor=nonsense', fresh), 'query/cursor');
  expectFaults(await list('?hwid=machine', fresh), 'query/hwid');
  expectFaults(await list('?subscription=lapsed', fresh), 'query/subscription');
  expectFaults(await list('?expires_since=soon', fresh), 'query/expires_since');
  expectFaults(await list('?expires_until=', fresh), 'query/expires_until');
  expectFaults(await list('?sort=email', fresh), 'query/sort');
});
