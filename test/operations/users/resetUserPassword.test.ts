import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp } from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { callUsers, registered, viewOf } from '../support/users.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api } = service;
const password = 'another password';

testForeignUsers(service, 'POST', '/reset-password', { password });

test('the new password is valid, the old one and its sessions are not', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const { body: session } = await api.login(app.with(user));
  const { status, body } = await callUsers(api, app, 'POST', `/${user.userId}/reset-password`, { password });
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Password set.' });
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expectError(await api.login(app.with(user)), 401, 'INVALID_CREDENTIALS');
  expect((await api.login(app.with({ ...user, password }))).status).toBe(200);
});

test('gives a password to a user who has none', async () => {
  const app = await newApp(api);
  const { body } = await callUsers<{ user_id: string }>(api, app, 'POST', '', { username: 'ada' });
  await callUsers(api, app, 'POST', `/${body.user_id}/reset-password`, { password });
  expect((await viewOf(api, app, body.user_id)).password_state).toBe('set');
  expect((await api.login(app.with({ username: 'ada', password, hwid: 'machine' }))).status).toBe(200);
});

test('a login that has checked the old password creates no session after the reset', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const database = await connectTo(service.databaseUrl);
  // The login waits for the user's row, after the change that also waits for it.
  await database.query('begin');
  await database.query('select from users where user_id = $1 for update', [user.userId]);
  const waiting = () =>
    database
      .query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
      )
      .then(({ rows }) => rows[0]!.n);
  const change = callUsers(api, app, 'POST', `/${user.userId}/reset-password`, { password });
  await expect.poll(waiting).toBe(1);
  const login = api.login(app.with(user));
  await expect.poll(waiting).toBe(2);
  await database.query('rollback');
  const [changed, loggedIn] = await Promise.all([change, login]);
  expect([200, 503]).toContain(changed.status);
  const { password_version: version } = (
    await database.query<{ password_version: number }>(
      'select password_version from users where user_id = $1',
      [user.userId],
    )
  ).rows[0]!;
  expect(version).toBe(1);
  // In either order, no session of the old password remains.
  const { live_sessions: live } = await viewOf(api, app, user.userId);
  expect(live).toBe(0);
  expect([200, 401]).toContain(loggedIn.status);
});

test('TOO_MANY_REQUESTS while too many passwords wait', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const { atOnce, later } = await flood(1, () =>
    callUsers(api, app, 'POST', `/${userId}/reset-password`, { password }),
  );
  for (const response of atOnce) expectError(response, 429, 'TOO_MANY_REQUESTS');
  expect(later.every(({ status }) => status === 200)).toBe(true);
});

test('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const send = (body: object) => callUsers(api, app, 'POST', `/${userId}/reset-password`, body);
  expectFaults(await send({}), '/password');
  expectFaults(await send({ password: '1234567' }), '/password');
  expectFaults(await send({ password: 'p'.repeat(129) }), '/password');
});

test('neither the event nor the audit log contains a password', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  await callUsers(api, app, 'POST', `/${userId}/reset-password`, { password: 'never to be seen' });
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query(
    `select data::text from events where user_id = $1 union all select data::text from audit_log where target = $1`,
    [userId],
  );
  expect(JSON.stringify(rows)).not.toMatch(/never to be seen|argon2/);
  expect(rows.length).toBeGreaterThan(1);
});
