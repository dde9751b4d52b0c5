import { expect, test } from 'vitest';
import { clearDeletedApplication } from '../../../src/app/housekeeping.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { encryptedSession } from '../support/journeys.ts';
import { limitPlan } from '../support/plans.ts';

const service = await startTestService();
const { api, databaseUrl } = service;

const remove = (app_id: string, token: string | undefined) =>
  api.call('DELETE', `/api/v2/dev/apps/${app_id}`, undefined, { token });

test('the application, its credentials and its sessions end at once', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const [key] = await app.keys(1);
  const session = await newSession(api, app);
  const encrypted = await encryptedSession(service, app, session.owner);
  const { status, body } = await remove(app.app_id, app.token);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: expect.any(String) });
  for (const token of [session.token, session.session_id, encrypted.token]) {
    expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
    expectError(await api.logout({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
  }
  const { username } = session.owner;
  for (const response of [
    await api.init(app.with({})),
    await api.login(app.with(session.owner)),
    await api.register(app.with(session.owner)),
    await api.activate(app.with({ username, license_key: key! })),
  ]) {
    expectError(response, 401, 'INVALID_APP_CREDENTIALS');
  }
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const { token } = developer;
  for (const response of [
    await api.call('GET', path, undefined, { token }),
    await api.call('PATCH', path, { name: 'Back' }, { token }),
    await api.call('GET', `${path}/licenses`, undefined, { token }),
    await api.post(`${path}/licenses`, { amount: 1, duration_days: 1, tier: 'Pro' }, { token }),
    await remove(app.app_id, token),
  ]) {
    expectError(response, 404, 'APPLICATION_NOT_FOUND');
  }
  const list = await api.call('GET', '/api/v2/dev/apps', undefined, { token });
  expect(list.body).toMatchObject({ data: [], next_cursor: null });
});

test('another application of the same developer is untouched', async () => {
  const developer = await newDeveloper(api);
  const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
  const { token } = await newSession(api, other);
  await remove(app.app_id, developer.token);
  expect((await api.verify({ app_id: other.app_id, token })).status).toBe(200);
});

test('frees its place in the quota, once', async () => {
  const developer = await newDeveloper(api);
  await limitPlan(databaseUrl, developer, { apps: 2 });
  const [app] = [await newApp(api, developer), await newApp(api, developer)];
  const create = () => api.post('/api/v2/dev/apps', { name: 'One more' }, { token: developer.token });
  expectError(await create(), 403, 'QUOTA_EXCEEDED');
  const responses = await Promise.all(Array.from({ length: 6 }, () => remove(app.app_id, developer.token)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404, 404]);
  expect((await create()).status).toBe(201);
  expectError(await create(), 403, 'QUOTA_EXCEEDED');
});

test('its rows are cleared afterwards, those of others stay', async () => {
  const developer = await newDeveloper(api);
  const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
  for (const each of [app, other]) {
    const [key] = await each.keys(3);
    const { owner } = await newSession(api, each);
    await api.activate(each.with({ username: owner.username, license_key: key! }));
  }
  await remove(app.app_id, developer.token);
  while ((await clearDeletedApplication(service.services)) > 0);
  const database = await connectTo(databaseUrl);
  for (const { app_id, left } of [
    { app_id: app.app_id, left: 0 },
    { app_id: other.app_id, left: 1 },
  ]) {
    for (const table of ['applications', 'application_usage', 'users', 'licenses', 'sessions']) {
      const { rowCount } = await database.query(`select from ${table} where app_id = $1`, [app_id]);
      expect({ table, rows: Math.sign(rowCount!) }).toEqual({ table, rows: left });
    }
  }
  const { rows } = await database.query('select user_id from subscriptions');
  expect(rows).toHaveLength(1);
});

test("APPLICATION_NOT_FOUND is the same for another developer's and an absent one, which stays", async () => {
  const app = await newApp(api);
  const stranger = await newDeveloper(api);
  const absent = await remove('app_01kazm4q7ffx8v5t2w9y3b6n1c', stranger.token);
  expectError(absent, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await remove(app.app_id, stranger.token))).toEqual(comparable(absent));
  expect((await api.init(app.with({}))).status).toBe(200);
});

test('UNAUTHORIZED without a token', async () => {
  const app = await newApp(api);
  expectError(await remove(app.app_id, undefined), 401, 'UNAUTHORIZED');
  expect((await api.init(app.with({}))).status).toBe(200);
});
