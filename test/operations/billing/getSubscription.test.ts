import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  billed,
  buy,
  disputed,
  openCheckout,
  paid,
  refunded,
  sellPlan,
  subscribed,
  type Opened,
} from '../../support/billing.ts';
import { newDeveloper, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { newApiToken } from '../support/tokens.ts';
import type { PaymentFact } from '../../../src/platform/payments/index.ts';

type Schemas = components['schemas'];

const service = await startTestService();
const { api, clock } = service;

const get = ({ token }: { readonly token?: string }) =>
  api.call<Schemas['PlanSubscriptionResult']>('GET', '/api/v2/dev/subscription', undefined, { token });
const settle = (...facts: PaymentFact[]) => service.services.settlement.settle(facts, '127.0.0.1');
const days = (count: number) => new Date(inDays(clock, count));
const me = async (developer: Developer) =>
  (await api.call<Schemas['DeveloperResult']>('GET', '/api/v2/dev/me', undefined, developer)).body;

/** A developer whose monthly plan is paid for 30 days. */
async function subscriber(): Promise<{ developer: Developer; opened: Opened }> {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, await sellPlan(api));
  const refused = await settle(
    paid(opened),
    subscribed(opened, clock.now(), days(30)),
    billed(opened, clock.now(), days(30)),
  );
  expect(refused).toEqual([]);
  return { developer, opened };
}

test('SUBSCRIPTION_NOT_FOUND on the free plan, and before the first payment', async () => {
  const developer = await newDeveloper(api);
  expectError(await get(developer), 404, 'SUBSCRIPTION_NOT_FOUND');
  const opened = await openCheckout(api, developer, await sellPlan(api));
  expectError(await get(developer), 404, 'SUBSCRIPTION_NOT_FOUND');
  await settle(subscribed(opened, clock.now(), days(30), { state: 'pending' }));
  expectError(await get(developer), 404, 'SUBSCRIPTION_NOT_FOUND');
});

test.each(['monthly', 'yearly'] as const)('shows a recurring plan: %s', async (period) => {
  const developer = await newDeveloper(api);
  const plan = await sellPlan(api, { period });
  await buy(api, developer, plan);
  await untilPaymentEventsProcessed(service);
  const { status, body } = await get(developer);
  expect(status).toBe(200);
  const end = new Date(clock.now());
  if (period === 'monthly') end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  expect(body).toEqual({
    status: 'success',
    subscription_id: expect.stringMatching(/^sub_[0-9a-z]{26}$/) as string,
    plan_id: plan.plan_id,
    plan_name: plan.name,
    period,
    state: 'active',
    period_end: end.toISOString(),
    cancel_at_period_end: false,
    created_at: clock.now().toISOString(),
  });
});

test('shows a lifetime plan', async () => {
  const developer = await newDeveloper(api);
  const plan = await sellPlan(api, { period: 'lifetime' });
  await buy(api, developer, plan);
  expect((await get(developer)).body).toMatchObject({
    plan_id: plan.plan_id,
    period: 'lifetime',
    state: 'active',
    period_end: null,
    cancel_at_period_end: false,
  });
});

test('has the current name of the plan, even if the plan is archived', async () => {
  const { developer, opened } = await subscriber();
  const path = `/api/v2/admin/plans/${opened.plan.plan_id}`;
  await api.call('PATCH', path, { name: `${opened.plan.name} – renamed` }, ADMINISTRATOR);
  await api.call('DELETE', path, undefined, ADMINISTRATOR);
  const { body } = await get(developer);
  expect(body).toMatchObject({ plan_id: opened.plan.plan_id, plan_name: `${opened.plan.name} – renamed` });
});

describe('when a renewal', () => {
  test('fails, it is past due and the plan stays; after a payment it is active again', async () => {
    const { developer, opened } = await subscriber();
    await settle(subscribed(opened, days(30), days(60), { state: 'past_due' }));
    expect((await get(developer)).body).toMatchObject({ state: 'past_due' });
    expect((await me(developer)).plan.id).toBe(opened.plan.plan_id);
    await settle(subscribed(opened, days(31), days(60)));
    expect((await get(developer)).body).toMatchObject({ state: 'active', period_end: inDays(clock, 60) });
  });

  test('never succeeds, it ends: SUBSCRIPTION_NOT_FOUND, and the free plan', async () => {
    const { developer, opened } = await subscriber();
    await settle(subscribed(opened, days(39), days(60), { state: 'ended' }));
    expectError(await get(developer), 404, 'SUBSCRIPTION_NOT_FOUND');
    expect((await me(developer)).plan.id).toBe('free');
    await settle(subscribed(opened, days(40), days(60)));
    expectError(await get(developer), 404, 'SUBSCRIPTION_NOT_FOUND');
  });
});

test('ends when it is refunded, and returns when a dispute is won', async () => {
  const { developer, opened } = await subscriber();
  await settle(refunded(opened, 1899));
  expect((await get(developer)).status).toBe(200);
  await settle(refunded(opened, 1900));
  expectError(await get(developer), 404, 'SUBSCRIPTION_NOT_FOUND');

  const other = await subscriber();
  await settle(disputed(other.opened, 'open', clock.now()));
  expectError(await get(other.developer), 404, 'SUBSCRIPTION_NOT_FOUND');
  await settle(disputed(other.opened, 'won', days(1)));
  expect((await get(other.developer)).body).toMatchObject({ plan_id: other.opened.plan.plan_id });
});

test('is visible only to its developer', async () => {
  await subscriber();
  expectError(await get(await newDeveloper(api)), 404, 'SUBSCRIPTION_NOT_FOUND');
});

test('UNAUTHORIZED and INSUFFICIENT_SCOPE', async () => {
  const { developer } = await subscriber();
  expectError(await get({}), 401, 'UNAUTHORIZED');
  expectError(await get(ADMINISTRATOR), 401, 'UNAUTHORIZED');
  expectError(await get(await newApiToken(api, developer, ['write'])), 403, 'INSUFFICIENT_SCOPE');
  expect((await get(await newApiToken(api, developer, ['read']))).status).toBe(200);
});
