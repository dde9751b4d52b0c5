import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ban, newApp, newHwid, unique, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newTrustedClient } from '../../support/trusted-client.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock } = await startTestService();
const PATH = '/api/v2/client/register';

/** A trusted client, and what it sends to register a user. */
async function program(app: App) {
  const client = await newTrustedClient(api, app, () => clock.now());
  const { hwid } = client.device;
  const bodyOf = (changes: object = {}) => ({
    app_id: app.app_id,
    username: unique('user'),
    password: 'a user password',
    hwid,
    ...changes,
  });
  const register = (changes?: object) => client.call('POST', PATH, bodyOf(changes));
  return { ...client, bodyOf, register };
}

test('creates an account that is bound to the machine', async () => {
  const app = await newApp(api);
  const { bodyOf, register } = await program(app);
  const user = bodyOf();
  const { status, body } = await register(user);
  expect({ status, body }).toEqual({
    status: 201,
    body: { status: 'success', message: 'User registered.', user_id: expect.stringMatching(/^usr_/) },
  });
  const { username, password, hwid } = user;
  expect((await api.login(app.with({ username, password, hwid }))).status).toBe(200);
  const elsewhere = { username, password, hwid: newHwid() };
  expectError(await api.login(app.with(elsewhere)), 403, 'HWID_MISMATCH');
});

test('redeems a license key', async () => {
  const app = await newApp(api);
  const { bodyOf, call } = await program(app);
  const [license_key] = await app.keys(1, 'Pro');
  const user = bodyOf({ license_key });
  expect((await call('POST', PATH, user)).status).toBe(201);
  const { body } = await call('POST', '/api/v2/client/login-password', user);
  const verified = await call<components['schemas']['VerifySessionV2Result']>(
    'POST',
    '/api/v2/client/verify-session',
    { app_id: app.app_id, token: body['token'] },
  );
  expect(verified.body).toMatchObject({ valid: true, subscription_tier: 'Pro' });
});

test('refuses a taken name, and keys that cannot be redeemed', async () => {
  const app = await newApp(api);
  const { register } = await program(app);
  const [license_key] = await app.keys(1);
  expect((await register({ username: 'ada', license_key })).status).toBe(201);
  expectError(await register({ username: 'ADA' }), 409, 'USERNAME_TAKEN');
  expectError(await register({ license_key }), 409, 'LICENSE_ALREADY_USED');
  expectError(await register({ license_key: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' }), 400, 'LICENSE_NOT_FOUND');
});

test('DEVICE_MISMATCH for the machine of another device', async () => {
  const { register } = await program(await newApp(api));
  expectError(await register({ hwid: newHwid() }), 401, 'DEVICE_MISMATCH');
});

test('requires the signature of a registered device', async () => {
  const app = await newApp(api);
  const { bodyOf, call } = await program(app);
  expectError(await api.post(PATH, bodyOf()), 401, 'DEVICE_SIGNATURE_INVALID');
  const headers = { 'latchkey-app': app.app_id, 'latchkey-nonce': 'x'.repeat(16) };
  expectError(await api.post(PATH, bodyOf(), { headers }), 401, 'DEVICE_SIGNATURE_INVALID');
  const at = new Date(clock.now().getTime() + 302_000);
  expectError(await call('POST', PATH, bodyOf(), { at }), 401, 'TIMESTAMP_OUT_OF_RANGE');
});

test('SECRET_REQUIRED while secretless_clients is off', async () => {
  const app = await newApp(api);
  const { bodyOf, register } = await program(app);
  const user = bodyOf();
  await app.patch({ secretless_clients: false });
  expectError(await register(user), 403, 'SECRET_REQUIRED');
  await app.patch({ secretless_clients: true });
  expect((await register(user)).status).toBe(201);
});

test('APPLICATION_INACTIVE', async () => {
  const app = await newApp(api);
  const { register } = await program(app);
  await app.patch({ status: 'disabled' });
  expectError(await register(), 401, 'APPLICATION_INACTIVE');
});

test('APPLICATION_NOT_FOUND for a deleted application', async () => {
  const { app_id, token, ...rest } = await newApp(api);
  const { register } = await program({ app_id, token, ...rest });
  await api.call('DELETE', `/api/v2/dev/apps/${app_id}`, undefined, { token });
  expectError(await register(), 404, 'APPLICATION_NOT_FOUND');
});

test('HWID_BANNED, ADDRESS_BANNED and VPN_BLOCKED', async () => {
  const app = await newApp(api);
  const [banned, other] = [await program(app), await program(app)];
  await ban(api, app, { kind: 'hardware', hwid: banned.device.hwid });
  expectError(await banned.register(), 403, 'HWID_BANNED');
  expect((await other.register()).status).toBe(201);
  await ban(api, app, { kind: 'network', network: '127.0.0.1' });
  expectError(await other.register(), 403, 'ADDRESS_BANNED');
  await app.patch({ block_vpn: true, vpn_fail_closed: true });
  expectError(await other.register(), 403, 'VPN_BLOCKED');
});

test('with an Idempotency-Key it happens once, for each device', async () => {
  const app = await newApp(api);
  const [first, second] = [await program(app), await program(app)];
  const user = first.bodyOf();
  const headers = { 'idempotency-key': 'registration-1' };
  const made = await first.call('POST', PATH, user, { headers });
  const replayed = await first.call('POST', PATH, user, { headers });
  expect([made.status, replayed.status, replayed.body]).toEqual([201, 201, made.body]);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  expectError(await first.call('POST', PATH, first.bodyOf(), { headers }), 422, 'IDEMPOTENCY_KEY_REUSED');
  const other = await second.call('POST', PATH, second.bodyOf(), { headers });
  expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([201, null]);
});

test('VALIDATION_FAILED', async () => {
  const { register } = await program(await newApp(api));
  const faulty = { username: '', password: 'short', email: 'absent' };
  expectFaults(await register(faulty), '/email', '/password', '/username');
});
