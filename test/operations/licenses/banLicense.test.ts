import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp, newHwid, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { expectForeignIsAbsent, licensesOf, licenseUser, redeemed, scoped } from '../support/licenses.ts';

const { api, databaseUrl } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('an unused key can no longer be redeemed or log in', async () => {
  const [made] = await licenses.create(1);
  const { license_id, license_key } = made!;
  const { status, body } = await licenses.ban(license_id, { reason: 'Leaked' });
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    license: expect.objectContaining({ license_id, license_key, status: 'banned', ban_reason: 'Leaked' }),
    ban_id: null,
  });
  const user = await newUser(api, app);
  expectError(await api.activate(app.with({ ...user, license_key })), 400, 'LICENSE_UNUSABLE');
  const stranger = { username: 'stranger', password: 'a user password', hwid: newHwid(), license_key };
  expectError(await api.register(app.with(stranger)), 400, 'LICENSE_UNUSABLE');
  const login = { app_id: app.app_id, license_key, hwid: newHwid() };
  expectError(await api.loginWithLicense(login), 400, 'LICENSE_UNUSABLE');
});

test('a redeemed key no longer logs in; its subscription and session stay', async () => {
  const { license_id, login, token } = await licenseUser(api, app);
  expect((await licenses.ban(license_id)).body).toMatchObject({
    ban_id: null,
    license: { ban_reason: null },
  });
  expectError(await api.loginWithLicense(login), 400, 'LICENSE_UNUSABLE');
  expect((await api.verify({ app_id: app.app_id, token })).body.subscription_tier).toBe('Pro');
});

test('ban_user bans the user and ends their sessions', async () => {
  const { license_id, user } = await redeemed(api, app);
  const { body: session } = await api.login(app.with(user));
  const { body } = await licenses.ban(license_id, { ban_user: true, reason: 'Charged back' });
  expect(body.ban_id).toMatch(/^ban_/);
  expectError(await api.login(app.with(user)), 403, 'USER_BANNED');
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  const bans = await api.call<{ data: object[] }>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/bans`,
    undefined,
    app,
  );
  expect(bans.body.data).toContainEqual(
    expect.objectContaining({ ban_id: body.ban_id, kind: 'user', reason: 'Charged back', expires_at: null }),
  );
});

test('ban_user without a user bans only the key', async () => {
  const [made] = await licenses.create(1);
  expect((await licenses.ban(made!.license_id, { ban_user: true })).body.ban_id).toBeNull();
});

test('is an event and in the audit log, and only the developer receives the reason', async () => {
  const { license_id } = await redeemed(api, app);
  await licenses.ban(license_id, { ban_user: true, reason: 'secret remark' });
  const database = await connectTo(databaseUrl);
  const events = await database.query<{ type: string; data: object }>(
    `select type, data from events
     where app_id = $1 and (data->>'license_id' = $2 or type in ('user.banned', 'session.ended'))
     order by sequence desc limit 2`,
    [app.app_id, license_id],
  );
  expect(events.rows.map(({ type }) => type)).toEqual(['user.banned', 'license.banned']);
  expect(JSON.stringify(events.rows[0]!.data)).not.toContain('secret remark');
  const audit = await database.query('select 1 from audit_log where action = $1 and target = $2', [
    'license.banned',
    license_id,
  ]);
  expect(audit.rowCount).toBe(1);
});

test('LICENSE_STATE_CONFLICT for a banned key, and the user is not banned', async () => {
  const { license_id, user } = await redeemed(api, app);
  await licenses.ban(license_id, { reason: 'first' });
  expectError(await licenses.ban(license_id, { ban_user: true }), 409, 'LICENSE_STATE_CONFLICT');
  expect((await api.login(app.with(user))).status).toBe(200);
  expect((await licenses.get(license_id)).body.license.ban_reason).toBe('first');
});

test('an Idempotency-Key bans once', async () => {
  const [made, other] = await licenses.create(2);
  const headers = { 'idempotency-key': `ban-${made!.license_id}` };
  const first = await licenses.ban(made!.license_id, { reason: 'r' }, headers);
  const second = await licenses.ban(made!.license_id, { reason: 'r' }, headers);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expectError(await licenses.ban(other!.license_id, {}, headers), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const [made] = await licenses.create(1);
  await expectForeignIsAbsent(api, app, made!.license_id, (calls, id) => calls.ban(id));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.ban(made!.license_id), 403, 'INSUFFICIENT_SCOPE');
  expect((await licenses.get(made!.license_id)).body.license.status).toBe('unused');
});

test('VALIDATION_FAILED', async () => {
  const [made] = await licenses.create(1);
  expectFaults(await licenses.ban(made!.license_id, { reason: 'r'.repeat(501) }), '/reason');
  expectFaults(await licenses.ban(made!.license_id, { ban_user: 'yes' }), '/ban_user');
});
