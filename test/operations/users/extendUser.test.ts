import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, registered, viewOf } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;
const LIFETIME = '9999-12-31T23:59:59.999Z';

testForeignUsers(service, 'POST', '/extend', { tier: 'Pro', days: 1 });

test('adds time like a key: same tier, higher tier, lower tier', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const extend = (tier: string, days: number | null) =>
    callUsers(api, app, 'POST', `/${userId}/extend`, { tier, days });
  expect((await extend('Pro', 10)).body).toEqual({
    status: 'success',
    tier: 'Pro',
    expires_at: inDays(clock, 10),
  });
  expect((await extend('Pro', 5)).body['expires_at']).toBe(inDays(clock, 15));
  expect((await extend('VIP', 1)).body['expires_at']).toBe(inDays(clock, 1));
  expect((await extend('Standard', 3)).body['expires_at']).toBe(inDays(clock, 19));
  const { subscription } = await viewOf(api, app, userId);
  expect(subscription.periods.map(({ tier, expires_at }) => [tier, expires_at])).toEqual([
    ['VIP', inDays(clock, 1)],
    ['Pro', inDays(clock, 16)],
    ['Standard', inDays(clock, 19)],
  ]);
});

test('a lifetime stays: SUBSCRIPTION_NOT_EXTENDABLE', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const extend = (tier: string, days: number | null) =>
    callUsers(api, app, 'POST', `/${userId}/extend`, { tier, days });
  expect((await extend('Pro', null)).body['expires_at']).toBe(LIFETIME);
  const before = await viewOf(api, app, userId);
  expectError(await extend('Pro', 30), 409, 'SUBSCRIPTION_NOT_EXTENDABLE');
  expectError(await extend('Standard', null), 409, 'SUBSCRIPTION_NOT_EXTENDABLE');
  expect(await viewOf(api, app, userId)).toEqual(before);
  expect((await extend('VIP', 1)).status).toBe(200);
});

test('runs on the subscription clock of a paused application', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  await app.patch({ paused: true });
  clock.advance(DAY / 2);
  await callUsers(api, app, 'POST', `/${userId}/extend`, { tier: 'Pro', days: 1 });
  await app.patch({ paused: false });
  expect((await viewOf(api, app, userId)).subscription.expires_at).toBe(inDays(clock, 1));
});

test('an Idempotency-Key adds once; without one, concurrent requests add up', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const extend = (headers = {}) =>
    callUsers(api, app, 'POST', `/${userId}/extend`, { tier: 'Pro', days: 1 }, headers);
  const key = { 'idempotency-key': unique('key') };
  await extend(key);
  expect((await extend(key)).headers.get('idempotency-replayed')).toBe('true');
  await Promise.all(Array.from({ length: 10 }, () => extend()));
  expect((await viewOf(api, app, userId)).subscription.expires_at).toBe(inDays(clock, 11));
});

test('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const extend = (body: object) => callUsers(api, app, 'POST', `/${userId}/extend`, body);
  expectFaults(await extend({ tier: 'None', days: 1 }), '/tier');
  expectFaults(await extend({ tier: 'Pro' }), '/days');
  expectFaults(await extend({ days: 1 }), '/tier');
  for (const days of [0, -1, 36_501, 1.5, '1']) expectFaults(await extend({ tier: 'Pro', days }), '/days');
  expect((await viewOf(api, app, userId)).subscription.subscription_status).toBe('none');
});
