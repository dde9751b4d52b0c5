import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { licensesOf } from '../support/licenses.ts';

type Schemas = components['schemas'];

const service = await startTestService();
const { api, clock, services } = service;

const get = (app: Pick<App, 'app_id' | 'token'>) =>
  api.call<Schemas['ApplicationCountsResult']>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/counts`,
    undefined,
    app,
  );

/** Adds all changes to the counts. */
async function fold(): Promise<void> {
  while ((await services.licenses.foldCounts()) > 0);
}

const NONE = { total: 0, unused: 0, redeemed: 0, paused: 0, banned: 0 };

test('of an application without anything: zeros', async () => {
  const { status, body } = await get(await newApp(api));
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    users: 0,
    live_sessions: 0,
    licenses: NONE,
    licenses_by_tier: [],
  });
});

test('follows every change of a license, before and after the changes are folded', async () => {
  const app = await newApp(api);
  await newApp(api).then((other) => other.keys(3));
  const licenses = licensesOf(api, app);
  const [pro, second, third] = await licenses.create(3, { tier: 'Pro' });
  await licenses.create(2, { tier: 'Standard' });
  const user = await newUser(api, app);
  expect((await api.login(app.with(user))).status).toBe(200);
  const { license_key } = pro!;
  expect((await api.activate(app.with({ username: user.username, license_key }))).status).toBe(200);
  await licenses.ban(second!.license_id);
  await licenses.pause(third!.license_id);

  const all = { total: 5, unused: 2, redeemed: 1, paused: 1, banned: 1 };
  const expected = {
    status: 'success',
    users: 1,
    live_sessions: 1,
    licenses: all,
    licenses_by_tier: [
      { tier: 'Pro', total: 3, unused: 0, redeemed: 1, paused: 1, banned: 1 },
      { tier: 'Standard', ...NONE, total: 2, unused: 2 },
    ],
  };
  expect((await get(app)).body).toEqual(expected);
  await fold();
  expect((await get(app)).body).toEqual(expected);

  await licenses.unban(second!.license_id);
  await licenses.resume(third!.license_id);
  await licenses.update(third!.license_id, { note: 'no change of status' });
  await licenses.delete(second!.license_id);
  expect((await get(app)).body.licenses).toEqual({ ...NONE, total: 4, unused: 3, redeemed: 1 });
  expect((await licenses.deleteUnused()).body.deleted).toBe(3);
  expect((await get(app)).body.licenses_by_tier).toEqual([{ tier: 'Pro', ...NONE, total: 1, redeemed: 1 }]);
  await fold();
  expect((await get(app)).body.licenses).toEqual({ ...NONE, total: 1, redeemed: 1 });
});

test('an import counts keys with their status, and one that fails counts none', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [known] = await app.keys(1, 'Pro');
  const csv = (...lines: string[]) => ['license_key,tier,duration_days,status', ...lines].join('\n');
  const { status } = await licenses.import(
    csv('AAAA-1111-BBBB,Pro,30,unused', 'AAAA-2222-BBBB,VIP,30,banned'),
  );
  expect(status).toBe(201);
  const repeated = await licenses.import(csv('AAAA-3333-BBBB,Pro,30,unused', `${known},Pro,30,unused`));
  expect(repeated.status).toBeGreaterThanOrEqual(400);
  const { licenses: counts, licenses_by_tier: tiers } = (await get(app)).body;
  expect(counts).toEqual({ ...NONE, total: 3, unused: 2, banned: 1 });
  expect(tiers.map(({ tier, total }) => [tier, total])).toEqual([
    ['Pro', 2],
    ['VIP', 1],
  ]);
});

test('10,000 keys of one request are few changes, which fold into one row', async () => {
  const app = await newApp(api);
  await app.keys(10_000, 'Pro');
  const database = await connectTo(service.databaseUrl);
  const rows = async (table: string) =>
    (await database.query(`select from ${table} where app_id = $1`, [app.app_id])).rowCount;
  expect(await rows('license_count_changes')).toBeLessThanOrEqual(40);
  expect((await get(app)).body.licenses).toEqual({ ...NONE, total: 10_000, unused: 10_000 });
  await fold();
  expect([await rows('license_count_changes'), await rows('license_counts')]).toEqual([0, 1]);
  expect((await get(app)).body.licenses).toEqual({ ...NONE, total: 10_000, unused: 10_000 });
});

test('nothing remains of a deleted application', async () => {
  const app = await newApp(api);
  await app.keys(5);
  await fold();
  await app.keys(5, 'Pro');
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expectError(await get(app), 404, 'APPLICATION_NOT_FOUND');
  while ((await services.licenses.clearOf(app.app_id)) > 0);
  await fold();
  const database = await connectTo(service.databaseUrl);
  const { rowCount } = await database.query(
    `select from license_counts where app_id = $1 union all select from license_count_changes where app_id = $1`,
    [app.app_id],
  );
  expect(rowCount).toBe(0);
});

test('a rolled-back change counts nothing', async () => {
  const app = await newApp(api);
  await app.keys(2);
  const { knex } = service.database;
  const undone = knex.transaction(async (trx) => {
    await trx('licenses').where({ app_id: app.app_id }).update({ status: 'banned' });
    const counts = await services.licenses.countsOf(trx, [app.app_id]);
    expect(counts.get(app.app_id)).toMatchObject({ unused: 0, banned: 2 });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect((await get(app)).body.licenses).toEqual({ ...NONE, total: 2, unused: 2 });
});

test('counts are read by indexes', async () => {
  const app = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  await database.query('set enable_seqscan = off');
  const plan = async (sql: string) => {
    const { rows } = await database.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, [[app.app_id]]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  const changes = await plan('select * from license_count_changes where app_id = any ($1::text[])');
  expect(changes).toContain('license_count_changes_app');
  const counts = await plan('select * from license_counts where app_id = any ($1::text[])');
  expect(counts).toContain('license_counts_pkey');
});

test('live sessions end with time', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await api.login(app.with(await newUser(api, app)));
  expect((await get(app)).body.live_sessions).toBe(1);
  clock.advance(86_400_000);
  const { email, password } = developer;
  const { token } = (await api.post<{ token: string }>('/api/v2/dev/login', { email, password })).body;
  expect((await get({ ...app, token })).body).toMatchObject({ users: 1, live_sessions: 0 });
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  const foreign = await get({ app_id: app.app_id, token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await get({ app_id: 'app_absent', token }))).toEqual(comparable(foreign));
});
