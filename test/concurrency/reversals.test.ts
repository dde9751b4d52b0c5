import { expect, test } from 'vitest';
import type { PaymentFact } from '../../src/platform/payments/index.ts';
import {
  billed,
  disputed,
  openCheckout,
  paid,
  sellPlan,
  subscribed,
  type Opened,
} from '../support/billing.ts';
import { DAY } from '../support/clock.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api, clock, services } = await startTestService();
const settle = (...facts: PaymentFact[]) => services.settlement.settle(facts, '127.0.0.1');
const later = (days: number) => new Date(clock.now().getTime() + days * DAY);
const planOf = async ({ developerId }: Developer) => (await services.developers.account(developerId)).plan.id;

const small = await sellPlan(api, { price: 1 });
const large = await sellPlan(api, { price: 1000, period: 'yearly' });

/** A later bill with its own payment. */
const another = (name: string, opened: Opened, amountMinor: number) => ({
  invoiceRef: `${name}_in_${opened.sessionId}`,
  paymentRef: amountMinor > 0 ? `${name}_${opened.sessionId}` : null,
  amountMinor,
});
const disputedAt = (name: string, opened: Opened): PaymentFact => ({
  ...disputed(opened, 'open', later(1)),
  paymentRef: `${name}_${opened.sessionId}`,
});

test.each(['upgrade', 'first'])('after an upgrade, the payment of either counts: %s', async (which) => {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, small);
  await settle(paid(opened), billed(opened, later(0), later(30)), subscribed(opened, later(0), later(30)));
  clock.advance(1000);
  const upgrade = { ...another('upgrade', opened, 99_901), reason: 'change' } as const;
  await settle(
    subscribed(opened, later(0), later(365), { productId: large.plan_id }),
    billed(opened, later(0), later(365), upgrade),
  );
  expect(await planOf(developer)).toBe(large.plan_id);
  await settle(which === 'first' ? disputed(opened, 'open', later(1)) : disputedAt('upgrade', opened));
  expect(await planOf(developer)).toBe('free');
});

test('after a move from years to months, the payment of the month counts', async () => {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, large);
  await settle(paid(opened), billed(opened, later(0), later(365)), subscribed(opened, later(0), later(365)));
  clock.advance(1000);
  const move = { ...another('move', opened, 0), reason: 'change' } as const;
  await settle(
    subscribed(opened, later(0), later(30), { productId: small.plan_id }),
    billed(opened, later(0), later(30), move),
  );
  clock.advance(30 * DAY);
  const renewal = { ...another('renewal', opened, 100), reason: 'renewal' } as const;
  await settle(billed(opened, later(0), later(30), renewal));
  expect(await planOf(developer)).toBe(small.plan_id);
  await settle(disputedAt('renewal', opened));
  expect(await planOf(developer)).toBe('free');
});

test('a first bill that a credit covers in part is recorded, and its payment counts', async () => {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, small);
  const inPart = billed(opened, later(0), later(30), { amountMinor: 60, creditMinor: 40 });
  expect(await settle(paid(opened), inPart)).toEqual([]);
  expect(await planOf(developer)).toBe(small.plan_id);
  await settle(disputed(opened, 'open', later(1)));
  expect(await planOf(developer)).toBe('free');
});
