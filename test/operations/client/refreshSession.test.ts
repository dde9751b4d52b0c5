import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { ban, lift, newApp, newDeveloper, newHwid, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newTrustedClient, newTrustedSession, type Deviations } from '../../support/trusted-client.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { callUsers } from '../support/users.ts';

const { api, clock } = await startTestService();
const now = () => clock.now();
const PATH = '/api/v2/client/refresh';
const VERIFY = '/api/v2/client/verify-session';

/** A trusted client of a new application with a session. */
async function program() {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const client = await newTrustedClient(api, app, now);
  const session = await newTrustedSession(client);
  const refresh = (token = session.token, deviations?: Deviations) =>
    client.call<components['schemas']['DeviceSessionResult']>(
      'POST',
      PATH,
      { app_id: app.app_id, token },
      deviations,
    );
  const verify = async (token: string) => client.call('POST', VERIFY, { app_id: app.app_id, token });
  const login = () =>
    client.call('POST', '/api/v2/client/login-password', { app_id: app.app_id, ...session.user });
  /** The application with a new token of its developer, because the previous one may have expired. */
  async function managed() {
    const { email, password } = developer;
    const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
    return { ...app, token: body.token };
  }
  async function userId(): Promise<string> {
    const { body } = await callUsers<{ data: { user_id: string }[] }>(api, await managed(), 'GET');
    return body.data[0]!.user_id;
  }
  return { app, client, ...session, refresh, verify, login, managed, userId };
}

test.each(['token', 'session_id'] as const)('replaces the live session that %s names', async (handle) => {
  const { client, refresh, verify, ...old } = await program();
  clock.advance(DAY / 2);
  const { status, body } = await refresh(old[handle]);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'success',
      token: expect.any(String),
      session_id: expect.stringMatching(/^[\w-]{22}$/),
      device_id: client.device.deviceId,
      expires_at: new Date(clock.now().getTime() + DAY).toISOString(),
    },
  });
  for (const each of [old.token, old.session_id]) {
    expectError(await verify(each), 401, 'SESSION_INVALID');
    expectError(await refresh(each), 401, 'SESSION_INVALID');
  }
  for (const each of [body.token, body.session_id]) {
    expect((await verify(each)).body).toMatchObject({ valid: true });
    expectError(await api.verifyV2({ app_id: old.app.app_id, token: each }), 401, 'DEVICE_SIGNATURE_INVALID');
  }
  expect((await refresh(body.token)).status).toBe(200);
});

test('renews a session until exactly 7 days after its end', async () => {
  const { refresh, verify, token } = await program();
  clock.advance(DAY);
  expectError(await verify(token), 401, 'SESSION_EXPIRED');
  clock.advance(7 * DAY - 1);
  const { status, body } = await refresh();
  expect(status).toBe(200);
  expect((await verify(body.token)).body).toMatchObject({ valid: true });
  expectError(await refresh(), 401, 'SESSION_INVALID');
  clock.advance(8 * DAY);
  expectError(await refresh(body.token), 401, 'SESSION_EXPIRED');
});

test.each([
  ['live', 0],
  ['expired', DAY],
])('two renewals at once of a session that is %s: one succeeds', async (_state, age) => {
  const { refresh } = await program();
  clock.advance(age);
  const statuses = (await Promise.all([refresh(), refresh()])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 401]);
});

describe.each([
  ['live', 0],
  ['expired', DAY],
])('a session that is %s cannot be renewed after', (_state, age) => {
  test('a logout', async () => {
    const { app, client, token, refresh } = await program();
    clock.advance(age);
    await client.call('POST', '/api/v2/client/logout', { app_id: app.app_id, token });
    expectError(await refresh(), 401, 'SESSION_INVALID');
  });

  test('a ban of the user, even when it has been lifted', async () => {
    const { user, refresh, managed } = await program();
    clock.advance(age);
    const app = await managed();
    const id = await ban(api, app, { kind: 'user', username: user.username });
    expectError(await refresh(), 401, 'SESSION_INVALID');
    await lift(api, app, id);
    expectError(await refresh(), 401, 'SESSION_INVALID');
  });

  test.each([
    ['a new password', 'POST', '/reset-password', { password: 'another user password' }],
    ['a hardware reset by the developer', 'POST', '/reset-hwid', undefined],
    ['an end of all sessions of the user', 'DELETE', '/sessions', undefined],
    ['the deletion of the user', 'DELETE', '', undefined],
  ])('%s', async (_name, method, path, body) => {
    const { refresh, managed, userId } = await program();
    clock.advance(age);
    const { status } = await callUsers(api, await managed(), method, `/${await userId()}${path}`, body);
    expect(status).toBe(200);
    expectError(await refresh(), 401, 'SESSION_INVALID');
  });

  test('a hardware reset by the user, even when the machine is bound again', async () => {
    const { app, client, user, refresh, login } = await program();
    clock.advance(age);
    const { username, password } = user;
    const reset = { app_id: app.app_id, username, password };
    expect((await client.call('POST', '/api/v2/client/reset-hwid', reset)).status).toBe(200);
    expectError(await refresh(), 401, 'SESSION_INVALID');
    expect((await login()).status).toBe(200);
    expectError(await refresh(), 401, 'SESSION_INVALID');
  });
});

test('DEVICE_MISMATCH for another device, and for a session without a device', async () => {
  const { app, token, refresh, verify } = await program();
  const other = await newTrustedClient(api, app, now);
  const body = { app_id: app.app_id, token };
  expectError(await other.call('POST', PATH, body), 401, 'DEVICE_MISMATCH');
  expect((await verify(token)).status).toBe(200);
  const unbound = await newSession(api, app);
  expectError(await refresh(unbound.token), 401, 'DEVICE_MISMATCH');
  expect((await api.verify({ app_id: app.app_id, token: unbound.token })).status).toBe(200);
});

test('SESSION_INVALID for anything but a session of this application', async () => {
  const { refresh } = await program();
  const { token } = await program();
  expectError(await refresh(token), 401, 'SESSION_INVALID');
  expectError(await refresh('nonsense'), 401, 'SESSION_INVALID');
});

test('requires the signature of the device, at the current time', async () => {
  const { app, token, refresh } = await program();
  const body = { app_id: app.app_id, token };
  expectError(await api.post(PATH, body), 401, 'DEVICE_SIGNATURE_INVALID');
  const at = new Date(clock.now().getTime() - 302_000);
  expectError(await refresh(token, { at }), 401, 'TIMESTAMP_OUT_OF_RANGE');
  expect((await refresh()).status).toBe(200);
});

test('a nonce works once, for the new session, too', async () => {
  const { refresh } = await program();
  const nonce = newHwid().slice(0, 32);
  const { status, body } = await refresh(undefined, { nonce });
  expect(status).toBe(200);
  expectError(await refresh(body.token, { nonce }), 401, 'NONCE_REUSED');
  expect((await refresh(body.token)).status).toBe(200);
});

test('APPLICATION_PAUSED and APPLICATION_INACTIVE; the session can be renewed afterwards', async () => {
  const { app, refresh } = await program();
  await app.patch({ paused: true });
  expectError(await refresh(), 403, 'APPLICATION_PAUSED');
  await app.patch({ status: 'disabled' });
  expectError(await refresh(), 401, 'APPLICATION_INACTIVE');
  await app.patch({ status: 'active' });
  expect((await refresh()).status).toBe(200);
});

test('HWID_MISMATCH for a device that moved to another machine, while hwid_lock is on', async () => {
  const { app, client, refresh } = await program();
  const { alg, jwk } = client.device;
  const moved = { app_id: app.app_id, hwid: newHwid(), alg, jwk };
  expect((await client.call('POST', '/api/v2/client/devices', moved)).status).toBe(201);
  expectError(await refresh(), 403, 'HWID_MISMATCH');
  await app.patch({ hwid_lock: false });
  expect((await refresh()).status).toBe(200);
});

test('SUBSCRIPTION_EXPIRED while require_subscription is on', async () => {
  const { app, client, user, refresh } = await program();
  await app.patch({ require_subscription: true });
  expectError(await refresh(), 403, 'SUBSCRIPTION_EXPIRED');
  const [license_key] = await app.keys(1);
  const redemption = { app_id: app.app_id, username: user.username, license_key };
  expect((await client.call('POST', '/api/v2/client/activate', redemption)).status).toBe(200);
  expect((await refresh()).status).toBe(200);
});

test('HWID_BANNED, ADDRESS_BANNED and VPN_BLOCKED', async () => {
  const { app, client, refresh } = await program();
  const machine = await ban(api, app, { kind: 'hardware', hwid: client.device.hwid });
  expectError(await refresh(), 403, 'HWID_BANNED');
  await lift(api, app, machine);
  await ban(api, app, { kind: 'network', network: '127.0.0.1' });
  expectError(await refresh(), 403, 'ADDRESS_BANNED');
  await app.patch({ block_vpn: true, vpn_fail_closed: true });
  expectError(await refresh(), 403, 'VPN_BLOCKED');
});

test('works while secretless_clients is off, and under require_client_trust', async () => {
  const { app, refresh } = await program();
  await app.patch({ secretless_clients: false, require_client_trust: true });
  expect((await refresh()).status).toBe(200);
});

test('VALIDATION_FAILED', async () => {
  const { app, client } = await program();
  expectFaults(await client.call('POST', PATH, { app_id: app.app_id }), '/token');
});
