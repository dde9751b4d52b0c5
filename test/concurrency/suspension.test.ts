import { expect, test } from 'vitest';
import type { PaymentFact } from '../../src/platform/payments/index.ts';
import {
  billed,
  openCheckout,
  paid,
  refunded,
  sellPlan,
  subscribed,
  subscriptionOf,
  type Opened,
} from '../support/billing.ts';
import { DAY } from '../support/clock.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { connectTo } from '../support/database.ts';
import { startTestService } from '../support/service.ts';

const { api, clock, services, databaseUrl } = await startTestService();
const settle = (...facts: PaymentFact[]) => services.settlement.settle(facts, '127.0.0.1');
const later = (days: number) => new Date(clock.now().getTime() + days * DAY);
const planOf = async ({ developerId }: Developer) => (await services.developers.account(developerId)).plan.id;
const monthly = await sellPlan(api);

async function subscriber(): Promise<{ readonly developer: Developer; readonly opened: Opened }> {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, monthly);
  await settle(paid(opened), billed(opened, later(0), later(30)), subscribed(opened, later(0), later(30)));
  expect(await planOf(developer)).toBe(monthly.plan_id);
  return { developer, opened };
}

/** Makes a subscription look as if it was bought at an earlier processor. */
async function ofAnotherProcessor(opened: Opened): Promise<void> {
  const database = await connectTo(databaseUrl);
  await database.query(`update plan_subscriptions set processor = 'other' where subscription_ref = $1`, [
    subscriptionOf(opened),
  ]);
  await database.end();
}

test('an unpaid subscription grants nothing until it is active again', async () => {
  const { developer, opened } = await subscriber();
  await settle(subscribed(opened, later(40), later(60), { state: 'unpaid' }));
  expect(await planOf(developer)).toBe('free');
  // An old payment, reported again.
  await settle(billed(opened, later(0), later(30)), paid(opened));
  expect(await planOf(developer)).toBe('free');
  await settle(subscribed(opened, later(41), later(60)));
  expect(await planOf(developer)).toBe(monthly.plan_id);
});

test('a subscription of another processor grants nothing after its period', async () => {
  const { developer, opened } = await subscriber();
  await ofAnotherProcessor(opened);
  clock.advance(29 * DAY);
  await services.reconciliation.run();
  expect(await planOf(developer)).toBe(monthly.plan_id);
  clock.advance(2 * DAY);
  await services.reconciliation.run();
  expect(await planOf(developer)).toBe('free');
});

test('and before that, the plan can be bought from the current one', async () => {
  const { developer, opened } = await subscriber();
  await ofAnotherProcessor(opened);
  const actor = { kind: 'developer', id: developer.developerId, address: '127.0.0.1', ...developer } as const;
  await expect(services.planSubscriptions.change(actor, { cancelAtPeriodEnd: true })).rejects.toMatchObject({
    code: 'SUBSCRIPTION_NOT_FOUND',
  });
  const again = await openCheckout(api, developer, monthly);
  await settle(paid(again));
  clock.advance(5 * 60_000);
  expect(await services.planSubscriptions.endUnwanted()).toBe(0);
});

test('the processor is not called to end a subscription that has ended', async () => {
  const { opened } = await subscriber();
  await settle(subscribed(opened, later(30), later(30), { state: 'ended' }), refunded(opened, 1900));
  clock.advance(5 * 60_000);
  expect(await services.planSubscriptions.endUnwanted()).toBe(0);
});
