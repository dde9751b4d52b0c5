import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PaymentFact } from '../../src/platform/payments/index.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import {
  billed,
  disputed,
  openCheckout,
  paid,
  refunded,
  sellPlan,
  subscribed,
  type Opened,
} from '../support/billing.ts';
import { DAY } from '../support/clock.ts';
import { startTestService } from '../support/service.ts';

const { api, clock, services } = await startTestService();
const { settle } = services.settlement;
const ADDRESS = '127.0.0.1';
const later = (days: number) => new Date(clock.now().getTime() + days * DAY);

/** Facts by number, each at least once. */
const orders = (amount: number) =>
  fc
    .tuple(
      fc.shuffledSubarray([...Array(amount).keys()], { minLength: amount }),
      fc.array(fc.nat(amount - 1), { maxLength: 4 }),
    )
    .map(([each, again]) => [...each, ...again]);

const planOf = async (developer: Developer) =>
  (await api.call<{ plan: { id: string } }>('GET', '/api/v2/dev/me', undefined, developer)).body.plan.id;
const packsOf = async (developer: Developer) =>
  (
    await api.call<{ quotas: { licenses: { limit: number } | null } }>(
      'GET',
      '/api/v2/dev/me',
      undefined,
      developer,
    )
  ).body.quotas.licenses?.limit;
const invoicesOf = async (developer: Developer) =>
  (await api.call<{ data: Record<string, unknown>[] }>('GET', '/api/v2/dev/invoices', undefined, developer))
    .body.data;

/** The members that differ in the bill of a change. */
const moved = ({ sessionId }: Opened) =>
  ({
    invoiceRef: `in2_${sessionId}`,
    paymentRef: `pi2_${sessionId}`,
    reason: 'change',
    amountMinor: 17_100,
  }) as const;

/** Settles facts in an order, one message for each or one for all. */
async function inOrder(
  facts: readonly PaymentFact[],
  order: readonly number[],
  together: boolean,
): Promise<void> {
  const sorted = order.map((place) => facts[place]!);
  for (const part of together ? [sorted] : sorted.map((fact) => [fact])) await settle(part, ADDRESS);
}

describe('the order and the number of messages make no difference', async () => {
  const monthly = await sellPlan(api);
  const limited = await sellPlan(api, { max_licenses: 0 });
  const pack = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', price: 10, licenses: 100 });
  const forever = await sellPlan(api, { period: 'lifetime', price: 490 });

  const cases: Readonly<
    Record<
      string,
      { facts: (opened: Opened) => PaymentFact[]; plan: boolean; state: string; amount?: number }
    >
  > = {
    'a subscription': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        subscribed(opened, later(0), later(30), { state: 'pending' }),
        subscribed(opened, later(0.1), later(30)),
      ],
      plan: true,
      state: 'paid',
    },
    'one that was renewed and canceled': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        billed(opened, later(30), later(60), { invoiceRef: `in2_${opened.sessionId}`, reason: 'renewal' }),
        subscribed(opened, later(0), later(30)),
        subscribed(opened, later(30), later(60), { cancelAtPeriodEnd: true }),
        subscribed(opened, later(60), later(60), { state: 'ended' }),
      ],
      plan: false,
      state: 'paid',
    },
    'one that was refunded': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        subscribed(opened, later(0), later(30)),
        refunded(opened, 900),
        refunded(opened, 1900),
      ],
      plan: false,
      state: 'refunded',
    },
    'one that was moved to years, which were refunded': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        billed(opened, later(1), later(366), moved(opened)),
        subscribed(opened, later(1), later(366)),
        refunded(opened, 17_100, `pi2_${opened.sessionId}`),
      ],
      plan: false,
      state: 'refunded',
      amount: 171,
    },
    'one that was moved to years, after which the month before was refunded': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        billed(opened, later(1), later(366), moved(opened)),
        subscribed(opened, later(1), later(366)),
        refunded(opened, 1900),
      ],
      plan: false,
      state: 'refunded',
    },
    'one that was changed within its period, and the difference refunded': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        billed(opened, later(1), later(30), moved(opened)),
        subscribed(opened, later(1), later(30)),
        refunded(opened, 17_100, `pi2_${opened.sessionId}`),
      ],
      plan: false,
      state: 'refunded',
      amount: 171,
    },
    'one that was disputed and won': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        subscribed(opened, later(0), later(30)),
        disputed(opened, 'open', later(1)),
        disputed(opened, 'won', later(20)),
      ],
      plan: true,
      state: 'paid',
    },
    'one that was disputed and lost': {
      facts: (opened) => [
        paid(opened),
        billed(opened, later(0), later(30)),
        disputed(opened, 'open', later(1)),
        disputed(opened, 'lost', later(20)),
      ],
      plan: false,
      state: 'disputed',
    },
  };

  test.each(Object.entries(cases))('%s', async (_name, { facts, plan, state, amount = 19 }) => {
    await fc.assert(
      fc.asyncProperty(
        orders(facts({ sessionId: '', url: 'http://x/', plan: monthly }).length),
        fc.boolean(),
        async (order, together) => {
          const developer = await newDeveloper(api);
          const opened = await openCheckout(api, developer, monthly);
          await inOrder(facts(opened), order, together);
          expect(await planOf(developer)).toBe(plan ? monthly.plan_id : 'free');
          const invoice = (await invoicesOf(developer)).findLast((each) => each['amount'] === amount);
          expect(invoice).toMatchObject({ state, currency: 'USD' });
        },
      ),
      { numRuns: 12 },
    );
  });

  test.each<[string, (opened: Opened) => PaymentFact[], number]>([
    ['a pack', (opened) => [paid(opened)], 100],
    [
      'a pack that was refunded in part',
      (opened) => [paid(opened), refunded(opened, 300), refunded(opened, 250)],
      70,
    ],
    ['a pack that was refunded', (opened) => [paid(opened), refunded(opened, 1000)], 0],
    [
      'a pack that was disputed',
      (opened) => [paid(opened), disputed(opened, 'open', later(1)), refunded(opened, 100)],
      0,
    ],
    [
      'a pack that was disputed and won',
      (opened) => [paid(opened), disputed(opened, 'open', later(1)), disputed(opened, 'won', later(2))],
      100,
    ],
  ])('%s', async (_name, facts, licenses) => {
    const developer = await newDeveloper(api);
    const on = await openCheckout(api, developer, limited);
    await settle([paid(on)], ADDRESS);
    let bought = 0;
    await fc.assert(
      fc.asyncProperty(
        orders(facts({ sessionId: '', url: 'http://x/', plan: pack }).length),
        fc.boolean(),
        async (order, together) => {
          await inOrder(facts(await openCheckout(api, developer, pack)), order, together);
          bought += licenses;
          expect(await packsOf(developer)).toBe(bought);
        },
      ),
      { numRuns: 12 },
    );
  });

  test('a one-time payment for a lifetime plan', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, forever);
    await Promise.all(Array.from({ length: 20 }, () => settle([paid(opened)], ADDRESS)));
    expect(await planOf(developer)).toBe(forever.plan_id);
    expect(await invoicesOf(developer)).toHaveLength(1);
    await settle([refunded(opened, 49_000)], ADDRESS);
    expect(await planOf(developer)).toBe('free');
  });
});

describe('nothing is granted for', async () => {
  const monthly = await sellPlan(api);
  const once = await sellPlan(api, { period: 'lifetime', price: 5 });

  test.each<[string, (opened: Opened, other: Opened) => PaymentFact]>([
    ['less than requested', (opened) => paid(opened, { amountMinor: 1899 })],
    ['more than requested', (opened) => paid(opened, { amountMinor: 1901 })],
    ['nothing', (opened) => paid(opened, { amountMinor: 0 })],
    ['another currency', (opened) => paid(opened, { currency: 'JPY' })],
    ['another session', (opened, other) => paid(opened, { sessionRef: paid(other).sessionRef })],
    ['an unknown purchase', (opened) => paid(opened, { reference: 'chk_unknown' })],
    ['a payment in progress', (opened) => paid(opened, { state: 'processing' })],
    ['a payment that failed', (opened) => paid(opened, { state: 'failed' })],
    ['a page that expired', (opened) => paid(opened, { state: 'expired' })],
    [
      'a subscription that was paid once',
      (opened) => paid(opened, { subscriptionRef: null, paymentRef: 'pi_1' }),
    ],
    ['an unpaid subscription', (opened) => subscribed(opened, later(0), later(30))],
    [
      'a subscription in another currency',
      (opened) => subscribed(opened, later(0), later(30), { currency: 'EUR' }),
    ],
    ['a first bill of another amount', (opened) => billed(opened, later(0), later(30), { amountMinor: 1 })],
    ['a bill that could not be paid', (opened) => billed(opened, later(0), later(30), { state: 'failed' })],
    [
      'a plan that does not exist',
      (opened) => subscribed(opened, later(0), later(30), { productId: 'plan_unknown' }),
    ],
  ])('%s', async (_what, fact) => {
    const developer = await newDeveloper(api);
    const [opened, other] = [
      await openCheckout(api, developer, monthly),
      await openCheckout(api, developer, once),
    ];
    await settle([fact(opened, other)], ADDRESS);
    expect(await planOf(developer)).toBe('free');
  });

  test('and later facts are still settled', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, monthly);
    const refused = await settle([paid(opened, { amountMinor: 1 }), paid(opened)], ADDRESS);
    expect(refused).toHaveLength(1);
    expect(await planOf(developer)).toBe(monthly.plan_id);
  });
});

test('the later of two subscriptions counts, and the processor ends the other one', async () => {
  const [one, other] = [await sellPlan(api), await sellPlan(api, { price: 29 })];
  const developer = await newDeveloper(api);
  const [first, second] = [
    await openCheckout(api, developer, one),
    await openCheckout(api, developer, other),
  ];
  await settle([paid(first)], ADDRESS);
  expect(await planOf(developer)).toBe(one.plan_id);
  clock.advance(1000);
  await settle([paid(second)], ADDRESS);
  expect(await planOf(developer)).toBe(other.plan_id);
  await settle([subscribed(second, later(31), later(31), { state: 'ended' })], ADDRESS);
  expect(await planOf(developer)).toBe(one.plan_id);
});
