import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { ban, lift, newApp } from '../../support/fixtures.ts';
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

test('another application’s users are not among them', async () => {
  expect(await names('', await newApp(api))).toEqual([]);
});

test('APPLICATION_NOT_FOUND', async () => {
  const other = await newApp(api);
  expectError(await list('', { ...app, token: other.token }), 404, 'APPLICATION_NOT_FOUND');
});

test('VALIDATION_FAILED', async () => {
  expectFaults(await list('?banned=yes'), 'query/banned');
  expectFaults(await list('?hwid_bound='), 'query/hwid_bound');
  expectFaults(await list('?created_since=yesterday'), 'query/created_since');
  expectFaults(await list('?q='), 'query/q');
  expectFaults(await list('?q=%00'), 'query/q');
  expectFaults(await list('?limit=101'), 'query/limit');
  expectFaults(await list('?cursor=nonsense'), 'query/cursor');
  expectFaults(await list('?hwid=machine'), 'query/hwid');
});
