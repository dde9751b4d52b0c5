import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import type { ApiResponse } from '../../support/api.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { ban, newApp, newHwid, newNonce, signed, unique, type App } from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { boundSignatureOf, signatureOf } from '../../support/response-signature.ts';
import { callUsers, registered, viewOf, type Registered } from '../support/users.ts';

type Result = components['schemas']['ResetHwidResult'] & { code?: string; retry_after?: number };

const service = await startTestService({}, { hashing: 'each' });
const { api, clock } = service;

const send = (body: object | string, headers: Record<string, string> = {}): Promise<ApiResponse<Result>> =>
  api.call('POST', '/api/v2/client/reset-hwid', body, { headers });
const reset = ({ app_id }: App, { username, password }: { username: string; password: string }, more = {}) =>
  send({ app_id, username, password, ...more });

test('unbinds the machine and ends all sessions; the next login binds another one', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const { body: session } = await api.login(app.with(user));
  const { status, body } = await reset(app, user);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Hardware reset.', next_reset_at: inDays(clock, 7) });
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expect((await api.login(app.with({ ...user, hwid: newHwid() }))).status).toBe(200);
  expectError(await api.login(app.with(user)), 403, 'HWID_MISMATCH');
});

describe('HWID_RESET_TOO_SOON', () => {
  test('until exactly 7 days have passed, with the time of the next reset', async () => {
    const app = await newApp(api);
    const user = await registered(api, app);
    await reset(app, user);
    clock.advance(SECOND / 2);
    const { body: session } = await api.login(app.with(user));
    const early = await reset(app, user);
    expectError(early, 429, 'HWID_RESET_TOO_SOON');
    expect(early.body.retry_after).toBe((7 * DAY) / SECOND);
    expect(early.headers.get('retry-after')).toBe(String((7 * DAY) / SECOND));
    expect((await api.verify({ app_id: app.app_id, token: session.token })).status).toBe(200);
    clock.advance(7 * DAY - SECOND / 2 - 1);
    const late = await reset(app, user);
    expectError(late, 429, 'HWID_RESET_TOO_SOON');
    expect(late.body.retry_after).toBe(1);
    clock.advance(1);
    expect((await reset(app, user)).status).toBe(200);
  });

  test('a reset by the developer does not count, and is not counted', async () => {
    const app = await newApp(api);
    const user = await registered(api, app);
    const byDeveloper = () => callUsers(api, app, 'POST', `/${user.userId}/reset-hwid`);
    await byDeveloper();
    await api.login(app.with(user));
    expect((await reset(app, user)).status).toBe(200);
    await byDeveloper();
    await api.login(app.with(user));
    expectError(await reset(app, user), 429, 'HWID_RESET_TOO_SOON');
  });

  test('does not count a reset while no machine is bound', async () => {
    const app = await newApp(api);
    const user = { username: 'ada', password: 'a user password' };
    await callUsers(api, app, 'POST', '', user);
    for (let round = 0; round < 2; round += 1) {
      expect((await reset(app, user)).body.next_reset_at).toBe(inDays(clock, 0));
    }
    await api.login(app.with({ ...user, hwid: newHwid() }));
    expect((await reset(app, user)).body.next_reset_at).toBe(inDays(clock, 7));
  });

  test('is not revealed without the password', async () => {
    const app = await newApp(api);
    const user = await registered(api, app);
    await reset(app, user);
    expectError(await reset(app, { ...user, password: 'a wrong password' }), 401, 'INVALID_CREDENTIALS');
  });
});

test('INVALID_CREDENTIALS for unknown users, wrong passwords and users without one: nothing changes', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const sibling = await newApp(api);
  await callUsers(api, app, 'POST', '', { username: 'without' });
  for (const [of, who] of [
    [app, { ...user, password: 'a wrong password' }],
    [app, { ...user, username: unique('user') }],
    [app, { username: 'without', password: 'null' }],
    [sibling, user],
  ] as [App, Registered][]) {
    expectError(await reset(of, who), 401, 'INVALID_CREDENTIALS');
  }
  expect(await viewOf(api, app, user.userId)).toMatchObject({ hwid_bound: true, hwid_reset_at: null });
});

test('failures count together with those of logins', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const wrong = { ...user, password: 'a wrong password' };
  for (let n = 0; n < 5; n += 1) {
    expectError(await reset(app, wrong), 401, 'INVALID_CREDENTIALS');
    expectError(await api.login(app.with({ ...wrong, hwid: newHwid() })), 401, 'INVALID_CREDENTIALS');
  }
  const refused = await reset(app, user);
  expectError(refused, 429, 'TOO_MANY_REQUESTS');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expectError(await reset(app, wrong), 429, 'TOO_MANY_REQUESTS');
  expect((await viewOf(api, app, user.userId)).hwid_bound).toBe(true);
});

test('USER_BANNED and HWID_BANNED only after the right password; ADDRESS_BANNED before it', async () => {
  const app = await newApp(api);
  const [user, machine] = [await registered(api, app), await registered(api, app)];
  await ban(api, app, { kind: 'user', username: user.username });
  await ban(api, app, { kind: 'hardware', username: machine.username });
  expectError(await reset(app, user), 403, 'USER_BANNED');
  expectError(await reset(app, machine), 403, 'HWID_BANNED');
  expectError(await reset(app, { ...user, password: 'a wrong password' }), 401, 'INVALID_CREDENTIALS');
  expect((await viewOf(api, app, user.userId)).hwid_bound).toBe(true);
  await ban(api, app, { kind: 'network', network: '127.0.0.1' });
  expectError(await reset(app, { ...user, password: 'a wrong password' }), 403, 'ADDRESS_BANNED');
});

test('VPN_BLOCKED', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await app.patch({ block_vpn: true, vpn_fail_closed: true });
  expectError(await reset(app, user), 403, 'VPN_BLOCKED');
});

test('works while the application is paused, but not while it is disabled', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await app.patch({ paused: true });
  expect((await reset(app, user)).status).toBe(200);
  await app.patch({ status: 'disabled' });
  expectError(await reset(app, user), 401, 'APPLICATION_INACTIVE');
});

describe('signatures', () => {
  test('are optional, checked when sent, and the nonce works once', async () => {
    const app = await newApp(api);
    const user = await registered(api, app);
    const body = { app_id: app.app_id, username: user.username, password: user.password, nonce: newNonce() };
    const [text, headers] = signed(app, body, { at: clock.now() });
    const first = await send(text, headers);
    expect(first.status).toBe(200);
    expect(first.body.signature).toBe(signatureOf(app, body.nonce, first.body));
    expectError(await send(text, headers), 401, 'NONCE_REUSED');
    const forged = { ...headers, 'x-signature': '0'.repeat(64) };
    expectError(await send(text, forged), 401, 'INVALID_APP_CREDENTIALS');
    const late = signed(app, body, { at: new Date(clock.now().getTime() - 300_001) });
    expectError(await send(...late), 401, 'TIMESTAMP_OUT_OF_RANGE');
  });

  test('an unsigned request with a nonce gets a signed response', async () => {
    const app = await newApp(api);
    const user = await registered(api, app);
    const nonce = newNonce();
    const { username, password } = user;
    const sent = JSON.stringify({ app_id: app.app_id, username, password, nonce });
    const { body } = await send(sent, {});
    expect(body.signature).toBe(boundSignatureOf(app, { operation: 'resetHwid', body: sent }, nonce, body));
  });

  test('SIGNATURE_REQUIRED', async () => {
    const app = await newApp(api);
    const user = await registered(api, app);
    await app.patch({ require_signatures: true });
    expectError(await reset(app, user), 401, 'SIGNATURE_REQUIRED');
    const body = { app_id: app.app_id, username: user.username, password: user.password };
    expect((await send(...signed(app, body, { at: clock.now() }))).status).toBe(200);
  });
});

test('INVALID_APP_CREDENTIALS for an unknown application', async () => {
  const body = { app_id: `app_${'0'.repeat(26)}`, username: 'ada', password: 'a user password' };
  expectError(await send(body), 401, 'INVALID_APP_CREDENTIALS');
});

test('TOO_MANY_REQUESTS while too many passwords wait', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const wrong = () => reset(app, { username: unique('user'), password: user.password });
  const { atOnce, later } = await flood(1, wrong);
  for (const response of atOnce) expectError(response, 429, 'TOO_MANY_REQUESTS');
  for (const response of later) expectError(response, 401, 'INVALID_CREDENTIALS');
});

test('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  expectFaults(await send({ app_id: app.app_id }), '/username', '/password');
  expectFaults(await reset(app, { username: 'a\u200bb', password: 'x' }), '/username');
  expectFaults(await reset(app, { username: 'ada', password: '' }), '/password');
  expectFaults(await reset(app, { username: 'ada', password: 'x' }, { nonce: 'short' }), '/nonce');
});
