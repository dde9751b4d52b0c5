import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

type List = components['schemas']['SearchList'];

const find = (owner: { token: string }, q: string, more = '') =>
  api.call<List>('GET', `/api/v2/dev/search?q=${encodeURIComponent(q)}${more}`, undefined, {
    token: owner.token,
  });
const hits = async (owner: { token: string }, q: string) =>
  (await find(owner, q)).body.data.map(({ kind, id, match }) => ({ kind, id, match }));

const developer = await newDeveloper(api);
const [app, other] = [await newApp(api, developer), await newApp(api, developer)];

test('applications by id and by a part of the name', async () => {
  const { body: named } = await api.call<{ app_id: string }>(
    'POST',
    '/api/v2/dev/apps',
    { name: 'Straßenfest 2000' },
    { token: developer.token },
  );
  const { status, body } = await find(developer, named.app_id);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'success',
      data: [
        {
          kind: 'application',
          id: named.app_id,
          app_id: named.app_id,
          application_name: 'Straßenfest 2000',
          title: 'Straßenfest 2000',
          detail: null,
          match: 'id',
          state: 'active',
          tier: null,
        },
      ],
      is_complete: true,
    },
  });
  const hit = { kind: 'application', id: named.app_id, match: 'application_name' };
  for (const q of ['strassen', 'FEST', ' 2000 ']) expect(await hits(developer, q)).toContainEqual(hit);
});

test('a key that was imported into several applications is found in each', async () => {
  const license_key = `SHARED-KEY-${unique('key').toUpperCase()}`;
  const license_ids = [];
  for (const { app_id, token } of [app, other]) {
    const csv = `license_key,duration_days,tier\n${license_key},30,Standard\n`;
    const imported = await fetch(`${api.baseUrl}/api/v2/dev/apps/${app_id}/licenses/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', authorization: `Bearer ${token}` },
      body: csv,
    });
    expect(imported.status).toBe(201);
    const { body } = await api.call<{ data: { license_id: string }[] }>(
      'GET',
      `/api/v2/dev/apps/${app_id}/licenses?q=${license_key}`,
      undefined,
      { token },
    );
    license_ids.push(body.data[0]!.license_id);
  }
  expect(await hits(developer, license_key)).toEqual(
    license_ids.map((id) => ({ kind: 'license', id, match: 'license_key' })),
  );
});

test('licenses by id, key, note, and holder', async () => {
  const licenses = licensesOf(api, other);
  const [made] = await licenses.create(1, { note: 'Booth 7, 50% off_season' });
  const id = made!.license_id;
  const hit = { kind: 'license', id };
  expect((await find(developer, id)).body.data).toEqual([
    {
      ...hit,
      app_id: other.app_id,
      application_name: expect.any(String),
      title: made!.license_key,
      detail: 'Booth 7, 50% off_season',
      match: 'id',
      state: 'unused',
      tier: 'Pro',
    },
  ]);
  for (const key of [made!.license_key, made!.license_key.toLowerCase().replaceAll('-', '')]) {
    expect(await hits(developer, key)).toEqual([{ ...hit, match: 'license_key' }]);
  }
  for (const part of ['booth 7', '50% OFF_', 'season']) {
    expect(await hits(developer, part)).toEqual([{ ...hit, match: 'note' }]);
  }
  expect(await hits(developer, '50%_off')).toEqual([]);
  const held = await redeemed(api, app);
  const { body } = await licensesOf(api, app).get(held.license_id);
  const userId = body.license.redeemed_by!;
  for (const q of [held.user.username.toUpperCase(), userId]) {
    const found = await hits(developer, q);
    expect(found).toEqual([
      { kind: 'user', id: userId, match: q === userId ? 'id' : 'username' },
      { kind: 'license', id: held.license_id, match: 'redeemed_by' },
    ]);
  }
});

test('users by id, by any part of the name, and by the beginning of the address', async () => {
  const fields = { username: 'Große Ada 17', email: 'Countess@Example.com' };
  const { userId } = await registered(api, app, fields);
  await callUsers(api, app, 'POST', `/${userId}/extend`, { tier: 'VIP', days: 1 });
  const hit = { kind: 'user', id: userId };
  expect((await find(developer, 'grosse ada 17')).body.data).toEqual([
    {
      ...hit,
      app_id: app.app_id,
      application_name: expect.any(String),
      title: 'Große Ada 17',
      detail: 'Countess@Example.com',
      match: 'username',
      state: 'active',
      tier: 'VIP',
    },
  ]);
  expect(await hits(developer, userId)).toEqual([{ ...hit, match: 'id' }]);
  for (const q of ['gr', 'GROS', 'ße ada', 'da 17', 'ADA'])
    expect(await hits(developer, q)).toEqual([{ ...hit, match: 'username' }]);
  for (const q of ['countess', 'COUNTESS@exa']) {
    expect(await hits(developer, q)).toEqual([{ ...hit, match: 'email' }]);
  }
  // Shorter than a part can be, and not the beginning.
  expect(await hits(developer, 'ro')).toEqual([]);
  expect(await hits(developer, 'example.com')).toEqual([]);
  await callUsers(api, app, 'POST', `/${userId}/ban`, {});
  expect((await find(developer, userId)).body.data[0]).toMatchObject({ state: 'banned' });
});

test('exact matches first, and no more than the limit', async () => {
  const mark = unique('mark');
  for (const name of [`a ${mark}`, `${mark}b`, mark]) await registered(api, app, { username: name });
  const { body } = await find(developer, mark);
  expect(body.data.map(({ title }) => title)).toEqual([mark, `${mark}b`, `a ${mark}`]);
  expect(body.is_complete).toBe(true);
  const { body: few } = await find(developer, mark, '&limit=2');
  expect(few.data.map(({ title }) => title)).toEqual([mark, `${mark}b`]);
  expect(few.is_complete).toBe(false);
});

test('nothing of another developer, and nothing in a deleted application', async () => {
  const stranger = await newDeveloper(api);
  const own = await newApp(api, stranger);
  const name = unique('stranger');
  const { userId } = await registered(api, own, { username: name });
  const [made] = await licensesOf(api, own).create(1, { note: name });
  for (const q of [name, userId, made!.license_id, made!.license_key, own.app_id]) {
    expect(await hits(developer, q)).toEqual([]);
    expect((await hits(stranger, q)).length).toBeGreaterThan(0);
  }
  await api.call('DELETE', `/api/v2/dev/apps/${own.app_id}`, undefined, { token: stranger.token });
  for (const q of [name, userId, made!.license_key, own.app_id]) expect(await hits(stranger, q)).toEqual([]);
  expect((await find(stranger, name)).body.is_complete).toBe(true);
});

test('200,000 users: common and rare texts are found, by indexes only', async () => {
  const owner = await newDeveloper(api);
  const large = await newApp(api, owner);
  const database = await connectTo(service.databaseUrl);
  await database.query(
    `insert into users (user_id, app_id, username, username_key, email, created_at)
     select 'usr_' || lpad(n::text, 26, '0'), $1, s.name, s.name, 'mail' || n || '@example.com', now()
     from generate_series(1, 200000) n, lateral (select 'the user ' || n as name) s`,
    [large.app_id],
  );
  await database.query('analyze users');
  for (const [q, least] of [
    ['th', 20],
    ['user', 20],
    ['ser 19', 20],
    ['199999', 1],
    ['user 7', 20],
    ['mail1', 20],
    ['zzz', 0],
  ] as const) {
    expect((await find(owner, q)).body.data.length, q).toBe(least);
  }
  await database.query('begin');
  await database.query('set local enable_seqscan = off; set local enable_indexscan = off');
  const { rows } = await database.query<{ 'QUERY PLAN': string }>(
    `explain select u.user_id from users u
     where u.username_key like '%199999%' and u.app_id = any (array['${large.app_id}']) limit 21`,
  );
  await database.query('rollback');
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('users_username_parts');
}, 120_000);

test('UNAUTHORIZED and VALIDATION_FAILED', async () => {
  expectError(await api.call('GET', '/api/v2/dev/search?q=x', undefined, {}), 401, 'UNAUTHORIZED');
  for (const q of ['', '\u0000', '\n', 'x'.repeat(129)]) expectFaults(await find(developer, q), 'query/q');
  expectFaults(await find(developer, 'x', '&limit=51'), 'query/limit');
  expect((await find(developer, '   ')).body.data).toEqual([]);
});
