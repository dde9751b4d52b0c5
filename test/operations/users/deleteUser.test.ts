import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { ban, newApp, newDeveloper, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { limitPlan } from '../support/plans.ts';
import { callUsers, registered, seatsOf } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

testForeignUsers(service, 'DELETE', '');

test('ends the sessions, frees name and seat, and keeps redeemed keys redeemed', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await limitPlan(service.databaseUrl, developer, { users: 1 });
  const [key] = await app.keys(1, 'Pro');
  const user = await registered(api, app, { license_key: key });
  const { body: session } = await api.login(app.with(user));

  const { status, body } = await callUsers(api, app, 'DELETE', `/${user.userId}`);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'User deleted.' });
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expectError(await api.login(app.with(user)), 401, 'INVALID_CREDENTIALS');
  expectError(await callUsers(api, app, 'GET', `/${user.userId}`), 404, 'USER_NOT_FOUND');
  expectError(await callUsers(api, app, 'DELETE', `/${user.userId}`), 404, 'USER_NOT_FOUND');
  expect(await seatsOf(api, app)).toBe(0);

  const licenses = await api.call<{ data: object[] }>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/licenses`,
    undefined,
    app,
  );
  expect(licenses.body.data).toMatchObject([{ license_key: key, status: 'redeemed', redeemed_by: null }]);
  const again = await registered(api, app, { username: user.username });
  expect(again.userId).not.toBe(user.userId);
  const spent = await api.activate(app.with({ username: user.username, license_key: key! }));
  expectError(spent, 400, 'LICENSE_ALREADY_USED');
  const byKey = await api.loginWithLicense({ app_id: app.app_id, license_key: key!, hwid: user.hwid });
  expectError(byKey, 400, 'LICENSE_UNUSABLE');
  expect(await seatsOf(api, app)).toBe(1);
});

test('a ban of the user is deleted, one of their machine stays', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await ban(api, app, { kind: 'user', username: user.username });
  const banId = await ban(api, app, { kind: 'hardware', username: user.username });
  await callUsers(api, app, 'DELETE', `/${user.userId}`);
  const bans = await api.call<{ data: object[] }>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/bans`,
    undefined,
    app,
  );
  expect(bans.body.data).toMatchObject([{ ban_id: banId, kind: 'hardware', user_id: null }]);
  const back = { username: user.username, password: user.password };
  expectError(await api.register(app.with({ ...back, hwid: user.hwid })), 403, 'HWID_BANNED');
  expect((await api.register(app.with({ ...back, hwid: newHwid() }))).status).toBe(201);
});

test('concurrent requests delete the user once', async () => {
  const app = await newApp(api);
  const [{ userId }] = [await registered(api, app), await registered(api, app)];
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => callUsers(api, app, 'DELETE', `/${userId}`)),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
  expect(await seatsOf(api, app)).toBe(1);
});

test('is an event and in the audit log', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await api.login(app.with(user));
  await callUsers(api, app, 'DELETE', `/${user.userId}`);
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query(
    'select type, data from events where user_id = $1 order by sequence desc limit 2',
    [user.userId],
  );
  expect(rows).toMatchObject([
    { type: 'user.deleted', data: { username: user.username } },
    { type: 'session.ended', data: { reason: 'deleted' } },
  ]);
  const audit = await api.call<{ data: object[] }>('GET', '/api/v2/dev/audit-log?limit=1', undefined, app);
  expect(audit.body.data).toMatchObject([
    { action: 'user.deleted', target: user.userId, app_id: app.app_id },
  ]);
});
