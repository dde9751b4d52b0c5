import { expect, test } from 'vitest';
import { ban, newApp, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newTrustedClient } from '../../support/trusted-client.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { licensesOf, type CreatedLicense } from '../support/licenses.ts';

const { api, clock } = await startTestService();
const PATH = '/api/v2/client/activate';

/** A trusted client of a new application with a user. */
async function program() {
  const app: App = await newApp(api);
  const client = await newTrustedClient(api, app, () => clock.now());
  const user = await newUser(api, app);
  const bodyOf = (changes: object) => ({ app_id: app.app_id, username: user.username, ...changes });
  const redeem = (license_key: string | undefined, changes: object = {}) =>
    client.call('POST', PATH, bodyOf({ license_key, ...changes }));
  return { app, client, user, bodyOf, redeem };
}

test('spends the key once, and returns the tier and end that it gave', async () => {
  const { app, redeem } = await program();
  const [key] = await app.keys(1, 'Pro', 30);
  const { status, body } = await redeem(key);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'success',
      message: expect.any(String),
      subscription_tier: 'Pro',
      expires_at: inDays(clock, 30),
    },
  });
  expectError(await redeem(key), 400, 'LICENSE_ALREADY_USED');
  const [another] = await app.keys(1, 'Pro', 30);
  expect((await redeem(another)).body['expires_at']).toBe(inDays(clock, 60));
});

test('refuses keys that cannot be redeemed, and unknown users', async () => {
  const { app, redeem } = await program();
  const [lifetime, another] = await app.keys(2, 'Pro', null);
  expect((await redeem(lifetime)).status).toBe(200);
  expectError(await redeem(another), 400, 'LICENSE_NOT_APPLICABLE');
  const licenses = licensesOf(api, app);
  const [{ license_id, license_key }] = (await licenses.create(1)) as [CreatedLicense];
  await licenses.ban(license_id);
  expectError(await redeem(license_key), 400, 'LICENSE_UNUSABLE');
  expectError(await redeem('AAAAA-AAAAA-AAAAA-AAAAA-AAAAA'), 404, 'LICENSE_NOT_FOUND');
  expectError(await redeem(another, { username: 'absent' }), 404, 'USER_NOT_FOUND');
});

test('requires the signature of a registered device', async () => {
  const { app, client, bodyOf } = await program();
  const [license_key] = await app.keys(1);
  const body = bodyOf({ license_key });
  expectError(await api.post(PATH, body), 401, 'DEVICE_SIGNATURE_INVALID');
  const at = new Date(clock.now().getTime() - 302_000);
  expectError(await client.call('POST', PATH, body, { at }), 401, 'TIMESTAMP_OUT_OF_RANGE');
  expect((await client.call('POST', PATH, body)).status).toBe(200);
});

test('SECRET_REQUIRED while secretless_clients is off, and APPLICATION_INACTIVE', async () => {
  const { app, redeem } = await program();
  const [key] = await app.keys(1);
  await app.patch({ secretless_clients: false });
  expectError(await redeem(key), 403, 'SECRET_REQUIRED');
  await app.patch({ secretless_clients: true, status: 'disabled' });
  expectError(await redeem(key), 401, 'APPLICATION_INACTIVE');
  await app.patch({ status: 'active' });
  expect((await redeem(key)).status).toBe(200);
});

test('APPLICATION_NOT_FOUND for a deleted application', async () => {
  const { app, redeem } = await program();
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expectError(await redeem('AAAAA-AAAAA-AAAAA-AAAAA-AAAAA'), 404, 'APPLICATION_NOT_FOUND');
});

test.each([
  ['USER_BANNED', 'user'],
  ['HWID_BANNED', 'hardware'],
] as const)('%s', async (code, kind) => {
  const { app, user, redeem } = await program();
  const [key] = await app.keys(1);
  await ban(api, app, { kind, username: user.username });
  expectError(await redeem(key), 403, code);
});

test('ADDRESS_BANNED and VPN_BLOCKED', async () => {
  const { app, redeem } = await program();
  const [key] = await app.keys(1);
  await ban(api, app, { kind: 'network', network: '127.0.0.1' });
  expectError(await redeem(key), 403, 'ADDRESS_BANNED');
  await app.patch({ block_vpn: true, vpn_fail_closed: true });
  expectError(await redeem(key), 403, 'VPN_BLOCKED');
});

test('with an Idempotency-Key it happens once', async () => {
  const { app, client, bodyOf } = await program();
  const [license_key, other] = await app.keys(2);
  const headers = { 'idempotency-key': 'redemption-1' };
  const send = (key: string | undefined) =>
    client.call('POST', PATH, bodyOf({ license_key: key }), { headers });
  const [first, second] = [await send(license_key), await send(license_key)];
  expect([first.status, second.status, second.body]).toEqual([200, 200, first.body]);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expectError(await send(other), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('VALIDATION_FAILED', async () => {
  const { redeem } = await program();
  expectFaults(await redeem(undefined, { username: '' }), '/license_key', '/username');
});
