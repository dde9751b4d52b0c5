import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { ban, newApp, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import {
  newDevice,
  newTrustedClient,
  newTrustedSession,
  trustedHeaders,
  type Deviations,
  type TestDevice,
} from '../../support/trusted-client.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock, services } = await startTestService({}, { housekeeping: false });
const now = () => clock.now();
const PATH = '/api/v2/client/devices';

/** Registers a device, signed with its key unless the deviations change that. */
function register(appId: string, device: TestDevice, changes: object = {}, deviations: Deviations = {}) {
  const { hwid, alg, jwk } = device;
  const body = JSON.stringify({ app_id: appId, hwid, alg, jwk, ...changes });
  const request = { method: 'POST', path: PATH };
  const headers = trustedHeaders(appId, request, body, device, { at: now(), ...deviations });
  return api.post<components['schemas']['RegisterDeviceResult']>(PATH, body, { headers });
}

const thumbprint = (members: object) =>
  `dev_${createHash('sha256').update(JSON.stringify(members)).digest('base64url')}`;

describe.each(['EdDSA', 'ES256'] as const)('a device that signs with %s', (alg) => {
  test('is registered under the thumbprint of its key', async () => {
    const { app_id } = await newApp(api);
    const device = newDevice(alg);
    const { status, body } = await register(app_id, device);
    const { kty, crv, x, y } = device.jwk;
    const device_id = thumbprint(alg === 'EdDSA' ? { crv, kty, x } : { crv, kty, x, y });
    expect({ status, body }).toEqual({ status: 201, body: { status: 'success', device_id } });
    const named = { jwk: { use: 'sig', kid: 'my key', ...device.jwk } };
    expect((await register(app_id, device, named)).body.device_id).toBe(device_id);
  });

  test('cannot register the private part of its key', async () => {
    const { app_id } = await newApp(api);
    const device = newDevice(alg);
    const { d } = device.key.export({ format: 'jwk' });
    expectFaults(await register(app_id, device, { jwk: { ...device.jwk, d } }), '/jwk');
  });

  test('cannot register its key for the other algorithm', async () => {
    const { app_id } = await newApp(api);
    const other = alg === 'EdDSA' ? 'ES256' : 'EdDSA';
    expectFaults(await register(app_id, newDevice(alg), { alg: other }), '/jwk');
  });

  test('DEVICE_SIGNATURE_INVALID for the signature of another key', async () => {
    const { app_id } = await newApp(api);
    const [device, other] = [newDevice(alg), newDevice(alg)];
    expectError(await register(app_id, { ...device, key: other.key }), 401, 'DEVICE_SIGNATURE_INVALID');
    expectError(await register(app_id, other, { jwk: device.jwk }), 401, 'DEVICE_SIGNATURE_INVALID');
  });
});

const FIELD = 2n ** 255n - 19n;
const ORDER_8 = [
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
];
const littleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
const smallOrder = [
  ...[0n, 1n, FIELD - 1n, FIELD, FIELD + 1n].map(littleEndian),
  ...ORDER_8.map((hex) => Buffer.from(hex, 'hex')),
].flatMap((y) => {
  const negative = Buffer.from(y);
  negative[31]! |= 0x80;
  return [y, negative];
});

test.each(smallOrder.map((bytes) => bytes.toString('base64url')))(
  'refuses a point of small order: %s',
  async (x) => {
    const { app_id } = await newApp(api);
    const device = newDevice();
    expectFaults(await register(app_id, device, { jwk: { ...device.jwk, x } }), '/jwk');
  },
);

test('refuses keys that are no points, not canonical, or incomplete', async () => {
  const { app_id } = await newApp(api);
  const [ed25519, p256] = [newDevice('EdDSA'), newDevice('ES256')];
  const spare = `${ed25519.jwk.x.slice(0, 42)}_`;
  for (const [device, jwk] of [
    [ed25519, { ...ed25519.jwk, x: spare }],
    [ed25519, { ...ed25519.jwk, crv: 'P-256' }],
    [ed25519, { ...ed25519.jwk, y: ed25519.jwk.x }],
    [p256, { ...p256.jwk, y: p256.jwk.x }],
    [p256, { ...p256.jwk, y: undefined }],
    [p256, { ...p256.jwk, kty: 'OKP' }],
  ] as const) {
    expectFaults(await register(app_id, device, { jwk }), '/jwk');
  }
  expectFaults(await register(app_id, ed25519, { jwk: { ...ed25519.jwk, x: 'short' } }), '/jwk/x');
  expectFaults(await register(app_id, ed25519, { alg: 'RS256', hwid: '' }), '/alg', '/hwid');
});

test('registering it again changes its machine', async () => {
  const app = await newApp(api);
  const { app_id } = app;
  const client = await newTrustedClient(api, app, now);
  const { user } = await newTrustedSession(client);
  const hwid = newHwid();
  expect((await register(app_id, client.device, { hwid })).status).toBe(201);
  const path = '/api/v2/client/register';
  const add = (more: object) =>
    client.call('POST', path, { app_id, username: newHwid().slice(0, 12), password: user.password, ...more });
  expectError(await add({ hwid: user.hwid }), 401, 'DEVICE_MISMATCH');
  expect((await add({ hwid })).status).toBe(201);
});

test('requires a signature of the current time, by the device that the headers name', async () => {
  const { app_id } = await newApp(api);
  const device = newDevice();
  const late = new Date(clock.now().getTime() - 302 * SECOND);
  expectError(await register(app_id, device, {}, { at: late }), 401, 'TIMESTAMP_OUT_OF_RANGE');
  for (const headers of [
    { signature: undefined },
    { 'latchkey-device': undefined },
    { 'latchkey-device': newDevice().deviceId },
    { 'latchkey-app': undefined },
  ]) {
    expectError(await register(app_id, device, {}, { headers }), 401, 'DEVICE_SIGNATURE_INVALID');
  }
  expect((await register(app_id, device)).status).toBe(201);
});

test('works while the application is paused, and without secretless_clients', async () => {
  const { app_id, patch } = await newApp(api);
  await patch({ secretless_clients: false, require_client_trust: true, paused: true });
  expect((await register(app_id, newDevice())).status).toBe(201);
});

test('APPLICATION_NOT_FOUND and APPLICATION_INACTIVE', async () => {
  const { app_id, patch } = await newApp(api);
  await patch({ status: 'disabled' });
  expectError(await register(app_id, newDevice()), 401, 'APPLICATION_INACTIVE');
  expectError(await register(`app_${'0'.repeat(26)}`, newDevice()), 404, 'APPLICATION_NOT_FOUND');
});

test('HWID_BANNED, ADDRESS_BANNED and VPN_BLOCKED', async () => {
  const app = await newApp(api);
  const { app_id } = app;
  const device = newDevice();
  await ban(api, app, { kind: 'hardware', hwid: device.hwid });
  expectError(await register(app_id, device), 403, 'HWID_BANNED');
  expect((await register(app_id, newDevice())).status).toBe(201);
  await ban(api, app, { kind: 'network', network: '127.0.0.1' });
  expectError(await register(app_id, newDevice()), 403, 'ADDRESS_BANNED');
  await app.patch({ block_vpn: true, vpn_fail_closed: true });
  expectError(await register(app_id, newDevice()), 403, 'VPN_BLOCKED');
});

describe('housekeeping', () => {
  const clear = async () => {
    while ((await services.devices.clearUnused()) > 0);
  };

  test('deletes a device that has not logged in, when a day has passed', async () => {
    const app = await newApp(api);
    const client = await newTrustedClient(api, app, now);
    const { hwid } = client.device;
    const login = { app_id: app.app_id, username: 'ada', password: 'a user password', hwid };
    const probe = () => client.call('POST', '/api/v2/client/login-password', login);
    clock.advance(DAY);
    await clear();
    expectError(await probe(), 401, 'INVALID_CREDENTIALS');
    clock.advance(1);
    await clear();
    expectError(await probe(), 401, 'DEVICE_SIGNATURE_INVALID');
    expect((await register(app.app_id, client.device)).status).toBe(201);
    expectError(await probe(), 401, 'INVALID_CREDENTIALS');
  });

  test('deletes a device 90 days after its last login', async () => {
    const app = await newApp(api);
    const client = await newTrustedClient(api, app, now);
    const { user } = await newTrustedSession(client);
    const login = () => client.call('POST', '/api/v2/client/login-password', { app_id: app.app_id, ...user });
    clock.advance(DAY);
    expect((await login()).status).toBe(200);
    clock.advance(90 * DAY);
    await clear();
    expect((await client.call('POST', '/api/v2/client/init', { app_id: app.app_id })).status).toBe(200);
    clock.advance(1);
    await clear();
    expectError(await login(), 401, 'DEVICE_SIGNATURE_INVALID');
  });

  test('a renewal counts as a login', async () => {
    const app = await newApp(api);
    const client = await newTrustedClient(api, app, now);
    const { token, user } = await newTrustedSession(client);
    clock.advance(7 * DAY);
    const body = { app_id: app.app_id, token };
    expect((await client.call('POST', '/api/v2/client/refresh', body)).status).toBe(200);
    clock.advance(90 * DAY);
    await clear();
    const login = { app_id: app.app_id, ...user };
    expect((await client.call('POST', '/api/v2/client/login-password', login)).status).toBe(200);
  });
});
