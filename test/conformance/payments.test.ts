import { describe, expect, test } from 'vitest';
import {
  PaymentsUnavailableError,
  type PaymentFact,
  type Order,
  type PaymentProcessor,
  type Product,
} from '../../src/platform/payments/index.ts';
import { SECOND } from '../support/clock.ts';
import type { PaymentsHarness, SignedEvent } from './support/payments.ts';
import { startStripe } from './support/stripe-harness.ts';
import { startTestProcessor } from './support/test-processor-harness.ts';

const HOUR = 3600 * SECOND;

const pro: Product = {
  productId: 'plan_01k00000000000000000000001',
  name: 'Pro, for a year',
  amountMinor: 4_990,
  currency: 'EUR',
  recurring: null,
};
const monthly: Product = {
  ...pro,
  productId: 'plan_01k00000000000000000000002',
  name: 'Pro',
  recurring: 'monthly',
};
const yearly: Product = {
  productId: 'plan_01k00000000000000000000003',
  name: 'VIP',
  amountMinor: 19_900,
  currency: 'EUR',
  recurring: 'yearly',
};

/** Each implementation with its processor, or undefined if that is unavailable. */
const processors: readonly (readonly [string, PaymentsHarness | undefined])[] = [
  ['the test processor', await startTestProcessor()],
  ['Stripe (stripe-mock)', await startStripe()],
];

type FactOf<Kind extends PaymentFact['kind']> = Extract<PaymentFact, { kind: Kind }>;

/** The last fact of a kind. */
function last<Kind extends PaymentFact['kind']>(facts: readonly PaymentFact[], kind: Kind): FactOf<Kind> {
  const found = facts.findLast((fact): fact is FactOf<Kind> => fact.kind === kind);
  expect(found, `a fact of a ${kind}`).toBeDefined();
  return found!;
}

/** A fact without the time of its request. */
const withoutTime = (fact: PaymentFact) => ({ ...fact, asOf: undefined });

describe.each(processors)('payments: %s', (_title, opened) => {
  describe.skipIf(!opened)('take money', () => {
    const harness = opened!;
    let orders = 0;

    function order(product: Product, changes: Partial<Order> = {}): Order {
      return {
        reference: `chk_${String((orders += 1)).padStart(26, '0')}`,
        product,
        customer: {
          reference: 'dev_01k00000000000000000000001',
          email: 'ada@example.com',
          customerRef: null,
        },
        successUrl: 'https://shop.example.com/thanks?from=checkout',
        cancelUrl: 'https://shop.example.com/',
        expiresAt: new Date(harness.clock.now().getTime() + HOUR),
        ...changes,
      };
    }

    async function factsOf(
      payments: PaymentProcessor,
      events: readonly SignedEvent[],
    ): Promise<PaymentFact[]> {
      const read = [];
      for (const { body, headers } of events) read.push(await payments.readEvent(body, headers));
      return read.flatMap((event) => event?.facts ?? []);
    }

    async function bought(product: Product) {
      const payments = await harness.open();
      const { reference } = order(product);
      const { sessionRef } = await payments.openCheckout(order(product, { reference }));
      const events = await harness.says.paid(sessionRef);
      const facts = await factsOf(payments, events);
      const { paymentRef, subscriptionRef } = last(facts, 'checkout');
      return { payments, reference, sessionRef, events, facts, paymentRef, subscriptionRef };
    }

    async function paidOnce() {
      const sale = await bought(pro);
      expect(sale.paymentRef).not.toBeNull();
      return { ...sale, paymentRef: sale.paymentRef! };
    }

    async function subscribed(product = monthly) {
      const sale = await bought(product);
      expect(sale.subscriptionRef).not.toBeNull();
      return { ...sale, subscriptionRef: sale.subscriptionRef! };
    }

    const refused = (work: Promise<unknown>, fault: string) =>
      expect(work).rejects.toMatchObject({ name: 'PaymentsError', fault });

    describe('a checkout', () => {
      test('has a page', async () => {
        const { sessionRef, url } = await (await harness.open()).openCheckout(order(pro));
        expect(sessionRef).not.toBe('');
        expect(new URL(url).protocol).toMatch(/^https?:$/);
      });

      test('with the same reference is the same one, for any process and some time later', async () => {
        const wanted = order(monthly);
        const first = await (await harness.open()).openCheckout(wanted);
        harness.clock.advance(40 * 60 * SECOND);
        expect(await (await harness.open()).openCheckout(wanted)).toEqual(first);
        expect((await (await harness.open()).openCheckout(order(monthly))).sessionRef).not.toBe(
          first.sessionRef,
        );
      });

      test.each([
        ['a minute', 60 * SECOND],
        ['a month', 30 * 24 * HOUR],
      ])('may be open for %s', async (_time, milliseconds) => {
        const expiresAt = new Date(harness.clock.now().getTime() + milliseconds);
        const wanted = order(pro, { expiresAt });
        const first = await (await harness.open()).openCheckout(wanted);
        harness.clock.advance(30 * SECOND);
        expect(await (await harness.open()).openCheckout(wanted)).toEqual(first);
      });

      test('is open until it is paid', async () => {
        const payments = await harness.open();
        const wanted = order(pro);
        const { sessionRef } = await payments.openCheckout(wanted);
        const facts = await payments.lookUpCheckout(sessionRef);
        expect(facts).toEqual([
          {
            kind: 'checkout',
            sessionRef,
            reference: wanted.reference,
            state: 'open',
            amountMinor: 4_990,
            currency: 'EUR',
            paymentRef: null,
            subscriptionRef: null,
            customerRef: null,
            receiptUrl: null,
          },
        ]);
      });

      test.each([
        ['euros', 'EUR', 4_990],
        ['yen', 'JPY', 5_000],
        ['krónur', 'ISK', 7_000],
        ['forint', 'HUF', 19_000],
        ['dinars', 'KWD', 12_340],
      ])('is paid in %s', async (_name, currency, amountMinor) => {
        const { facts, reference, sessionRef, payments } = await bought({ ...pro, currency, amountMinor });
        const fact = last(facts, 'checkout');
        expect(fact).toMatchObject({ state: 'paid', reference, sessionRef, currency, amountMinor });
        expect(fact.paymentRef).toEqual(expect.any(String));
        expect(fact.subscriptionRef).toBeNull();
        expect(await payments.lookUpCheckout(sessionRef)).toEqual([fact]);
      });

      test('starts a subscription', async () => {
        const { facts, reference, sessionRef, subscriptionRef } = await subscribed();
        expect(last(facts, 'checkout')).toMatchObject({
          state: 'paid',
          reference,
          sessionRef,
          currency: 'EUR',
          amountMinor: 4_990,
        });
        expect(last(facts, 'subscription')).toMatchObject({
          subscriptionRef,
          reference,
          state: 'active',
          productId: monthly.productId,
          amountMinor: 4_990,
          currency: 'EUR',
          cancelAtPeriodEnd: false,
        });
        const invoice = last(facts, 'invoice');
        expect(invoice).toMatchObject({
          subscriptionRef,
          reference,
          state: 'paid',
          reason: 'first',
          amountMinor: 4_990,
          currency: 'EUR',
        });
        expect(invoice.paymentRef).toEqual(expect.any(String));
        expect(invoice.periodEnd).toEqual(last(facts, 'subscription').periodEnd);
        expect(invoice.periodEnd.getTime() - invoice.periodStart.getTime()).toBeGreaterThan(27 * 24 * HOUR);
      });

      test.each(['failed', 'expired'] as const)('that %s is reported', async (state) => {
        const payments = await harness.open();
        const wanted = order(pro);
        const { sessionRef } = await payments.openCheckout(wanted);
        const facts = await factsOf(payments, await harness.says[state](sessionRef));
        expect(last(facts, 'checkout')).toMatchObject({ state, sessionRef, reference: wanted.reference });
        expect(last(await payments.lookUpCheckout(sessionRef), 'checkout')).toMatchObject({ state });
      });

      test('that does not exist', async () => {
        await refused((await harness.open()).lookUpCheckout('cs_test_nothing'), 'not_found');
      });
    });

    describe('an event', () => {
      test('is read the same way each time, by any process', async () => {
        const { events, payments } = await subscribed();
        for (const { body, headers } of events) {
          const first = await payments.readEvent(body, headers);
          expect(await (await harness.open()).readEvent(body, headers)).toEqual(first);
        }
        const read = await Promise.all(events.map(({ body, headers }) => payments.readEvent(body, headers)));
        expect(new Set(read.map((event) => event?.eventId)).size).toBe(events.length);
      });

      test('counts for five minutes', async () => {
        const { events, payments } = await paidOnce();
        const { body, headers } = events[0]!;
        harness.clock.advance(299 * SECOND);
        const read = await payments.readEvent(body, headers);
        expect(read?.facts).not.toEqual([]);
        harness.clock.advance(2 * SECOND);
        await refused(payments.readEvent(body, headers), 'signature');
      });

      test('that was altered is refused', async () => {
        const { events, payments } = await paidOnce();
        for (const { body, headers } of events) {
          for (const at of [0, body.length >> 1, body.length - 1]) {
            const altered = Buffer.from(body);
            altered[at] = altered[at]! ^ 1;
            await refused(payments.readEvent(altered, headers), 'signature');
          }
          const longer = Buffer.concat([body, Buffer.from(' ')]);
          await refused(payments.readEvent(longer, headers), 'signature');
        }
      });

      test('that is not signed by the processor is refused', async () => {
        const { events, payments } = await paidOnce();
        const [event] = events;
        await refused(payments.readEvent(event!.body, {}), 'signature');
        await refused(payments.readEvent(Buffer.alloc(0), event!.headers), 'signature');
        const nonsense = Object.fromEntries(Object.keys(event!.headers).map((name) => [name, 'nonsense']));
        await refused(payments.readEvent(event!.body, nonsense), 'signature');
        const { body, headers } = harness.forge(event!);
        await refused(payments.readEvent(body, headers), 'signature');
      });

      test('of another account is refused', async () => {
        const { body, headers } = await harness.ofAnotherAccount();
        await refused((await harness.open()).readEvent(body, headers), 'account');
      });

      test('without information', async () => {
        const payments = await harness.open();
        const events = await harness.says.somethingElse();
        expect(events.length).toBeGreaterThan(0);
        for (const { body, headers } of events) {
          expect(await payments.readEvent(body, headers)).toBeUndefined();
        }
      });
    });

    describe('a subscription', () => {
      test('is the same when it is fetched', async () => {
        const { facts, payments, sessionRef, subscriptionRef } = await subscribed();
        const subscription = withoutTime(last(facts, 'subscription'));
        const ofCheckout = await payments.lookUpCheckout(sessionRef);
        expect(last(ofCheckout, 'checkout')).toEqual(last(facts, 'checkout'));
        expect(withoutTime(last(ofCheckout, 'subscription'))).toEqual(subscription);
        const found = await payments.lookUpSubscription(subscriptionRef);
        expect(withoutTime(last(found, 'subscription'))).toEqual(subscription);
        expect(last(found, 'invoice')).toEqual(last(facts, 'invoice'));
      });

      test('is renewed', async () => {
        const { facts: first, payments, reference, subscriptionRef } = await subscribed();
        harness.clock.advance(31 * 24 * HOUR);
        const facts = await factsOf(payments, await harness.says.renewed(subscriptionRef));
        const invoice = last(facts, 'invoice');
        expect(invoice).toMatchObject({
          subscriptionRef,
          reference,
          state: 'paid',
          reason: 'renewal',
          amountMinor: 4_990,
          currency: 'EUR',
          periodStart: last(first, 'invoice').periodEnd,
        });
        expect(invoice.invoiceRef).not.toBe(last(first, 'invoice').invoiceRef);
        expect(invoice.paymentRef).not.toBe(last(first, 'invoice').paymentRef);
        const found = await payments.lookUpSubscription(subscriptionRef);
        expect(last(found, 'invoice')).toEqual(invoice);
        const subscription = last(found, 'subscription');
        expect(subscription).toMatchObject({ state: 'active', reference, periodEnd: invoice.periodEnd });
        expect(subscription.asOf.getTime()).toBeGreaterThan(last(first, 'subscription').asOf.getTime());
      });

      test('whose payment fails is past due', async () => {
        const { payments, reference, subscriptionRef } = await subscribed();
        harness.clock.advance(31 * 24 * HOUR);
        const facts = await factsOf(payments, await harness.says.renewalFailed(subscriptionRef));
        expect(last(facts, 'invoice')).toMatchObject({ state: 'failed', reason: 'renewal', reference });
        expect(last(facts, 'subscription')).toMatchObject({ state: 'past_due', reference });
        const found = await payments.lookUpSubscription(subscriptionRef);
        expect(last(found, 'subscription')).toMatchObject({ state: 'past_due' });
        expect(last(found, 'invoice')).toEqual(last(facts, 'invoice'));
      });

      test('ends', async () => {
        const { payments, reference, subscriptionRef } = await subscribed();
        const facts = await factsOf(payments, await harness.says.subscriptionEnded(subscriptionRef));
        expect(last(facts, 'subscription')).toMatchObject({ state: 'ended', reference, subscriptionRef });
        const found = await payments.lookUpSubscription(subscriptionRef);
        expect(last(found, 'subscription')).toMatchObject({ state: 'ended' });
      });

      test('can be ended, and ended again', async () => {
        const { payments, subscriptionRef } = await subscribed();
        await payments.endSubscription(subscriptionRef, true);
        await payments.endSubscription(subscriptionRef, true);
        await payments.endSubscription(subscriptionRef, false);
        const found = await payments.lookUpSubscription(subscriptionRef);
        expect(last(found, 'subscription')).toMatchObject({ state: 'ended' });
      });

      test('can be moved to another product, once or twice', async () => {
        const { payments, reference, subscriptionRef } = await subscribed();
        await payments.changeSubscription(subscriptionRef, yearly);
        await payments.changeSubscription(subscriptionRef, yearly);
        const found = await payments.lookUpSubscription(subscriptionRef);
        expect(last(found, 'subscription')).toMatchObject({
          state: 'active',
          reference,
          productId: yearly.productId,
          amountMinor: 19_900,
        });
      });

      test('cannot be moved to a one-time product', async () => {
        const { payments, subscriptionRef } = await subscribed();
        await refused(payments.changeSubscription(subscriptionRef, pro), 'invalid');
      });

      test('ends with its period, or continues', async () => {
        const { payments, subscriptionRef } = await subscribed();
        for (const cancelAtPeriodEnd of [true, true, false]) {
          await payments.setCancellation(subscriptionRef, cancelAtPeriodEnd);
          const found = await payments.lookUpSubscription(subscriptionRef);
          expect(last(found, 'subscription')).toMatchObject({ state: 'active', cancelAtPeriodEnd });
        }
      });

      test('that does not exist', async () => {
        const payments = await harness.open();
        await refused(payments.lookUpSubscription('sub_nothing'), 'not_found');
        await refused(payments.changeSubscription('sub_nothing', yearly), 'not_found');
        await refused(payments.setCancellation('sub_nothing', true), 'not_found');
        await refused(payments.endSubscription('sub_nothing', false), 'not_found');
      });
    });

    describe('a payment', () => {
      test('is refunded in parts: each event contains the sum', async () => {
        const { payments, paymentRef, sessionRef } = await paidOnce();
        for (const [amountMinor, refundedMinor] of [
          [990, 990],
          [1_000, 1_990],
        ] as const) {
          const facts = await factsOf(payments, await harness.says.refunded(paymentRef, amountMinor));
          expect(last(facts, 'refund')).toEqual({
            kind: 'refund',
            paymentRef,
            refundedMinor,
            currency: 'EUR',
          });
        }
        expect(last(await payments.lookUpCheckout(sessionRef), 'refund').refundedMinor).toBe(1_990);
      });

      test('can be refunded by us, once per key', async () => {
        const { payments, paymentRef, sessionRef } = await paidOnce();
        const refunded = async () => last(await payments.lookUpCheckout(sessionRef), 'refund').refundedMinor;
        await payments.refund(paymentRef, 990, `${paymentRef}:a`);
        await (await harness.open()).refund(paymentRef, 990, `${paymentRef}:a`);
        expect(await refunded()).toBe(990);
        await refused(payments.refund(paymentRef, 4_001, `${paymentRef}:b`), 'declined');
        expect(await refunded()).toBe(990);
        await payments.refund(paymentRef, undefined, `${paymentRef}:c`);
        expect(await refunded()).toBe(4_990);
        await refused(payments.refund(paymentRef, undefined, `${paymentRef}:d`), 'declined');
      });

      test('of a renewal is refunded', async () => {
        const { payments, subscriptionRef } = await subscribed();
        const facts = await factsOf(payments, await harness.says.renewed(subscriptionRef));
        const { paymentRef } = last(facts, 'invoice');
        await payments.refund(paymentRef!, undefined, `${paymentRef}:a`);
        const refund = last(await payments.lookUpSubscription(subscriptionRef), 'refund');
        expect(refund).toMatchObject({ paymentRef, refundedMinor: 4_990 });
      });

      test('that does not exist', async () => {
        await refused((await harness.open()).refund('pi_nothing', undefined, 'nothing:a'), 'not_found');
      });

      test.each([
        ['won', 'disputeWon'],
        ['lost', 'disputeLost'],
      ] as const)('is disputed, and the dispute is %s', async (state, ends) => {
        const { payments, paymentRef, sessionRef } = await paidOnce();
        const begun = await factsOf(payments, await harness.says.disputed(paymentRef));
        expect(last(begun, 'dispute')).toMatchObject({ paymentRef, state: 'open' });
        expect(last(await payments.lookUpCheckout(sessionRef), 'dispute').state).toBe('open');
        harness.clock.advance(HOUR);
        const ended = await factsOf(payments, await harness.says[ends](paymentRef));
        expect(last(ended, 'dispute')).toMatchObject({ paymentRef, state });
        expect(last(ended, 'dispute').asOf.getTime()).toBeGreaterThan(last(begun, 'dispute').asOf.getTime());
        expect(last(await payments.lookUpCheckout(sessionRef), 'dispute').state).toBe(state);
      });
    });

    describe('a machine', () => {
      const request = { amount: '250', currency: 'USD', description: 'A license' };

      test('pays immediately, once per key', async () => {
        const wanted = { ...request, key: 'machine:a', token: harness.tokens.accepted };
        const charge = await (await harness.open()).charge(wanted);
        expect(charge.paymentRef).not.toBe('');
        expect(Math.abs(charge.paidAt.getTime() - harness.clock.now().getTime())).toBeLessThan(2 * SECOND);
        expect(await (await harness.open()).charge(wanted)).toEqual(charge);
        const token = harness.tokens.accepted;
        const another = await (await harness.open()).charge({ ...wanted, key: 'machine:b', token });
        expect(another.paymentRef).not.toBe(charge.paymentRef);
      });

      test('whose token is invalid', async () => {
        const payments = await harness.open();
        const { declined } = harness.tokens;
        await refused(payments.charge({ ...request, key: 'machine:c', token: declined }), 'declined');
      });
    });

    test('a processor that cannot be reached', async () => {
      const payments = await harness.openUnreachable();
      const unavailable = (work: Promise<unknown>) => expect(work).rejects.toThrow(PaymentsUnavailableError);
      await Promise.all([
        unavailable(payments.openCheckout(order(pro))),
        unavailable(payments.lookUpCheckout('cs_test_1')),
        unavailable(payments.lookUpSubscription('sub_1')),
        unavailable(payments.changeSubscription('sub_1', yearly)),
        unavailable(payments.setCancellation('sub_1', true)),
        unavailable(payments.endSubscription('sub_1', false)),
        unavailable(payments.refund('pi_1', 100, 'unavailable:a')),
        unavailable(
          payments.charge({
            key: 'unavailable:b',
            token: harness.tokens.accepted,
            amount: '250',
            currency: 'USD',
            description: 'A license',
          }),
        ),
      ]);
    });

    test('starts and stops', async () => {
      const started = await (await harness.open()).start();
      await started.stop();
    });
  });
});
