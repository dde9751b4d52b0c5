import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  becomes,
  buy,
  openCheckout,
  paid,
  payWith,
  sellPlan,
} from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const service = await startTestService();
const { api, clock } = service;
const developer = await newDeveloper(api);
const plan = await sellPlan(api, { period: 'lifetime', price: 12.5, currency: 'EUR' });

const get = (id: string, { token }: { readonly token?: string } = developer) =>
  api.call<components['schemas']['CheckoutResult']>('GET', `/api/v2/dev/checkouts/${id}`, undefined, {
    token,
  });

test('is open, then paid, with the time', async () => {
  const opened = await openCheckout(api, developer, plan);
  expect((await get(opened.sessionId)).body).toMatchObject({
    checkout_id: opened.sessionId,
    plan_id: plan.plan_id,
    url: opened.url,
    state: 'open',
    amount: 12.5,
    currency: 'EUR',
    paid_at: null,
  });
  expect(await payWith('pays', opened)).toBe(303);
  await becomes(api, developer, opened, 'paid');
  const { body } = await get(opened.sessionId);
  expect(body.paid_at).toBe(clock.now().toISOString());
});

test('charges what the plan cost when it was opened', async () => {
  const cheap = await sellPlan(api, { period: 'lifetime', price: 5 });
  const opened = await openCheckout(api, developer, cheap);
  const path = `/api/v2/admin/plans/${cheap.plan_id}`;
  await api.call('PATCH', path, { price: 50 }, ADMINISTRATOR);
  expect((await get(opened.sessionId)).body.amount).toBe(5);
  expect(await payWith('pays', opened)).toBe(303);
  await becomes(api, developer, opened, 'paid');
  expect((await get(opened.sessionId)).body.amount).toBe(5);
});

test('stays open when a card is declined, and can be paid with another one', async () => {
  const other = await newDeveloper(api);
  const opened = await openCheckout(api, other, plan);
  expect(await payWith('declined', opened)).toBe(422);
  await untilPaymentEventsProcessed(service);
  expect((await get(opened.sessionId, other)).body.state).toBe('open');
  expect(await payWith('pays', opened)).toBe(303);
  await becomes(api, other, opened, 'paid');
});

test('is processing until the bank has paid, and grants nothing before', async () => {
  const other = await newDeveloper(api);
  const slow = await openCheckout(api, other, plan);
  expect(await payWith('delayed', slow)).toBe(303);
  await becomes(api, other, slow, 'processing');
  const me = () => api.call('GET', '/api/v2/dev/me', undefined, other);
  expect((await me()).body).toMatchObject({ plan: { id: 'free' } });
  clock.advance(30_000);
  await becomes(api, other, slow, 'paid');
  await expect.poll(async () => (await me()).body['plan']).toMatchObject({ id: plan.plan_id });
});

test('has failed when the bank does not pay', async () => {
  const other = await newDeveloper(api);
  const opened = await openCheckout(api, other, plan);
  await payWith('delayedFailure', opened);
  await becomes(api, other, opened, 'processing');
  clock.advance(30_000);
  await becomes(api, other, opened, 'failed');
  expect((await get(opened.sessionId, other)).body.paid_at).toBeNull();
});

test('has expired after an hour', async () => {
  const late = await openCheckout(api, developer, await sellPlan(api));
  clock.advance(3_600_000);
  // Opening the page is enough to expire it at the processor.
  await fetch(late.url, { redirect: 'manual' });
  await becomes(api, await renewed(), late, 'expired');
  expect(await payWith('pays', late)).toBe(303);
  await untilPaymentEventsProcessed(service);
  expect((await get(late.sessionId, await renewed())).body).toMatchObject({
    state: 'expired',
    paid_at: null,
  });
});

/** Logs the developer in again, because the session may have expired. */
async function renewed(): Promise<{ readonly token: string }> {
  const { email, password } = developer;
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  return body;
}

test('a paid checkout stays paid after any later event', async () => {
  const other = await newDeveloper(api);
  const bought = await buy(api, other, plan);
  const { body: before } = await get(bought.sessionId, other);
  for (const state of ['open', 'processing', 'failed', 'expired'] as const)
    await service.services.settlement.settle([paid(bought, { state })], '127.0.0.1');
  expect((await get(bought.sessionId, other)).body).toEqual(before);
});

test("CHECKOUT_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const mine = await renewed();
  const opened = await openCheckout(api, mine, await sellPlan(api));
  const stranger = await newDeveloper(api);
  const absent = await get('chk_01kazmg5t6v7w8x9y0z1a2b3c4', stranger);
  expectError(absent, 404, 'CHECKOUT_NOT_FOUND');
  expect(comparable(await get(opened.sessionId, stranger))).toEqual(comparable(absent));
  for (const id of ['chk', opened.sessionId.toUpperCase(), plan.plan_id, '%00', '..%2Fapps', "'--"]) {
    expect([400, 404]).toContain((await get(id, mine)).status);
  }
});

test('UNAUTHORIZED and INSUFFICIENT_SCOPE', async () => {
  const other = await newDeveloper(api);
  const opened = await openCheckout(api, other, plan);
  expectError(await get(opened.sessionId, {}), 401, 'UNAUTHORIZED');
  expectError(
    await get(opened.sessionId, await newApiToken(api, other, ['write'])),
    403,
    'INSUFFICIENT_SCOPE',
  );
  expect((await get(opened.sessionId, await newApiToken(api, other, ['read']))).status).toBe(200);
});
