import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { newApp, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newDevice, newTrustedClient, newTrustedSession } from '../../support/trusted-client.ts';
import { expectError } from '../support/errors.ts';

const { api, clock } = await startTestService();
const now = () => clock.now();
const PATH = '/api/v2/client/login-password';

test.each(['EdDSA', 'ES256'] as const)('opens a session that only its device can use (%s)', async (alg) => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now, newDevice(alg));
  const { token, session_id, device_id, expires_at } = await newTrustedSession(client);
  expect(device_id).toBe(client.device.deviceId);
  expect(expires_at).toBe(new Date(clock.now().getTime() + 86_400 * SECOND).toISOString());

  for (const handle of [token, session_id]) {
    const body = { app_id: app.app_id, token: handle };
    const path = '/api/v2/client/verify-session';
    expect((await client.call('POST', path, body)).body).toMatchObject({ valid: true });
    expectError(await api.verifyV2(body), 401, 'DEVICE_SIGNATURE_INVALID');
    expectError(await api.verify(body), 401, 'DEVICE_SIGNATURE_INVALID');
    const other = await newTrustedClient(api, app, now);
    expectError(await other.call('POST', path, body), 401, 'DEVICE_MISMATCH');
  }
});

test('refuses the machine of another device, and a wrong password', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now);
  const { user } = await newTrustedSession(client);
  const login = (changes: object) => client.call('POST', PATH, { app_id: app.app_id, ...user, ...changes });
  expectError(await login({ hwid: newHwid() }), 401, 'DEVICE_MISMATCH');
  expectError(await login({ password: 'another password' }), 401, 'INVALID_CREDENTIALS');
  const second = await newTrustedClient(api, app, now);
  const there = { app_id: app.app_id, ...user, hwid: second.device.hwid };
  expectError(await second.call('POST', PATH, there), 403, 'HWID_MISMATCH');
});

test('uses up the nonce, and requires the signature and the switch', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now);
  const { user } = await newTrustedSession(client);
  const body = { app_id: app.app_id, ...user };
  const nonce = newHwid().slice(0, 32);
  expect((await client.call('POST', PATH, body, { nonce })).status).toBe(200);
  expectError(await client.call('POST', PATH, body, { nonce }), 401, 'NONCE_REUSED');
  expectError(await api.post(PATH, body), 401, 'DEVICE_SIGNATURE_INVALID');
  await app.patch({ secretless_clients: false });
  expectError(await client.call('POST', PATH, body), 403, 'SECRET_REQUIRED');
  await app.patch({ secretless_clients: true, paused: true });
  expectError(await client.call('POST', PATH, body), 403, 'APPLICATION_PAUSED');
});

test('a login with a license key binds its session to the device, too', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now);
  const [license_key] = await app.keys(1);
  const { app_id } = app;
  const { body } = await client.call<components['schemas']['SignedSessionResult']>(
    'POST',
    '/api/v2/client/login-license',
    { app_id, license_key, hwid: client.device.hwid },
  );
  expectError(await api.verifyV2({ app_id, token: body.token }), 401, 'DEVICE_SIGNATURE_INVALID');
});
