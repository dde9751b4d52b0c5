import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endOfPeriod } from '../../../src/platform/calendar-state.ts';
import { restOf } from '../../../src/platform/payments/test-processor/period-state.ts';
import type { Product } from '../../../src/platform/payments/index.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { CARDS, last, monthly, only, openTestShop, pro, refused } from './support/test-shop.ts';

const shop = await openTestShop('2027-01-31T12:00:00.000Z');
const { clock, processor, open, buy, newFacts, workAll } = shop;
const yearly: Product = { ...monthly, productId: 'plan_yearly', amountMinor: 49_000, recurring: 'yearly' };
const vip: Product = { ...monthly, productId: 'plan_vip', amountMinor: 9_990 };

/** A new subscription without pending events. */
async function subscribe(product = monthly, number: string = CARDS.pays) {
  const sale = await buy(product, number);
  const facts = await newFacts();
  return { ...sale, facts, start: clock.now(), end: last(facts, 'subscription').periodEnd };
}

/** The new facts about one subscription. */
async function newFactsOf(subscriptionRef: string) {
  const facts = await newFacts();
  return facts.filter((fact) => 'subscriptionRef' in fact && fact.subscriptionRef === subscriptionRef);
}

const advanceTo = (time: Date) => clock.advance(time.getTime() - clock.now().getTime());

/** The invoice of the next period. */
async function nextInvoice(subscriptionRef: string) {
  advanceTo(last(await processor.lookUpSubscription(subscriptionRef), 'subscription').periodEnd);
  return last(await newFactsOf(subscriptionRef), 'invoice');
}

describe('a renewal', () => {
  test('is charged on the day of the month of the first payment, or on the last one', async () => {
    const { subscriptionRef, facts, end, start } = await subscribe();
    expect(last(facts, 'invoice')).toMatchObject({ reason: 'first', amountMinor: 4_990, periodStart: start });
    expect(last(facts, 'invoice').number).toMatch(/^IN-\d{6}$/);
    const ends = [end];
    const payments = new Set([last(facts, 'invoice').paymentRef]);
    for (let month = 0; month < 4; month += 1) {
      advanceTo(new Date(ends.at(-1)!.getTime() - 1));
      expect(await newFactsOf(subscriptionRef)).toEqual([]);
      clock.advance(1);
      const renewed = await newFactsOf(subscriptionRef);
      const invoice = last(renewed, 'invoice');
      expect(only(renewed, 'invoice')).toHaveLength(1);
      expect(invoice).toMatchObject({ state: 'paid', reason: 'renewal', periodStart: ends.at(-1) });
      expect(last(renewed, 'subscription')).toMatchObject({ state: 'active', periodEnd: invoice.periodEnd });
      ends.push(invoice.periodEnd);
      payments.add(invoice.paymentRef);
    }
    expect(ends.map((each) => each.toISOString())).toEqual([
      '2027-02-28T12:00:00.000Z',
      '2027-03-31T12:00:00.000Z',
      '2027-04-30T12:00:00.000Z',
      '2027-05-31T12:00:00.000Z',
      '2027-06-30T12:00:00.000Z',
    ]);
    expect(payments.size).toBe(5);
    await processor.endSubscription(subscriptionRef, false);
  });

  test('is charged once by several processes, and missed renewals are made up for', async () => {
    const { subscriptionRef, end, sessionRef } = await subscribe();
    advanceTo(new Date(end.getTime() + 70 * DAY));
    await Promise.all([
      ...[processor, open(), open()].map((each) => workAll(each)),
      processor.lookUpSubscription(subscriptionRef),
      open().setCancellation(subscriptionRef, true),
    ]);
    expect((await processor.page.receipt(sessionRef))!.payments).toHaveLength(4);
    expect(only(await newFactsOf(subscriptionRef), 'invoice')).toHaveLength(3);
    await processor.endSubscription(subscriptionRef, false);
  });

  test('by the year, on the 29th of February', () => {
    const anchor = new Date('2028-02-29T08:00:00Z');
    const ends = [1, 2, 3, 4].map((years) => endOfPeriod(anchor, 'yearly', years).toISOString().slice(0, 10));
    expect(ends).toEqual(['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']);
  });

  test('that fails is retried after 1, 3 and 5 days; then the subscription ends', async () => {
    const { subscriptionRef, end } = await subscribe(monthly, CARDS.paysOnce);
    advanceTo(end);
    const first = await newFactsOf(subscriptionRef);
    expect(last(first, 'invoice')).toMatchObject({ state: 'failed', reason: 'renewal', paymentRef: null });
    expect(last(first, 'subscription').state).toBe('past_due');
    await refused(processor.changeSubscription(subscriptionRef, vip), 'declined');
    const { invoiceRef } = last(first, 'invoice');
    for (const [day, state] of [
      [1, 'past_due'],
      [3, 'past_due'],
      [5, 'ended'],
    ] as const) {
      advanceTo(new Date(end.getTime() + day * DAY - 1));
      expect(await newFactsOf(subscriptionRef)).toEqual([]);
      clock.advance(1);
      const again = await newFactsOf(subscriptionRef);
      expect(last(again, 'invoice')).toMatchObject({ invoiceRef, state: 'failed' });
      expect(last(again, 'subscription').state).toBe(state);
    }
    clock.advance(60 * DAY);
    expect(await newFactsOf(subscriptionRef)).toEqual([]);
    await refused(processor.setCancellation(subscriptionRef, true), 'invalid');
    await refused(processor.changeSubscription(subscriptionRef, vip), 'invalid');
    await processor.endSubscription(subscriptionRef, true);
  });

  test('that failed is paid later', async () => {
    const { subscriptionRef, end } = await subscribe(monthly, CARDS.paysOnce);
    advanceTo(end);
    const { invoiceRef, periodEnd } = last(await newFactsOf(subscriptionRef), 'invoice');
    await processor.setCard(subscriptionRef, true);
    clock.advance(DAY);
    const paid = await newFactsOf(subscriptionRef);
    expect(last(paid, 'invoice')).toMatchObject({ invoiceRef, state: 'paid', amountMinor: 4_990 });
    expect(last(paid, 'subscription')).toMatchObject({ state: 'active', periodEnd });
    clock.advance(5 * DAY);
    expect(await newFactsOf(subscriptionRef)).toEqual([]);
    expect((await nextInvoice(subscriptionRef)).state).toBe('paid');
    await processor.endSubscription(subscriptionRef, false);
  });
});

describe('a cancellation', () => {
  test('ends the subscription with its period, unless it is revoked', async () => {
    const { subscriptionRef, end } = await subscribe();
    const facts = [];
    for (const atPeriodEnd of [true, false, true]) {
      await processor.setCancellation(subscriptionRef, atPeriodEnd);
      facts.push(...only(await newFactsOf(subscriptionRef), 'subscription'));
    }
    expect(facts.map((fact) => fact.cancelAtPeriodEnd)).toEqual([true, false, true]);
    // The clock does not advance, but each fact is later than the previous one.
    const times = facts.map((fact) => fact.asOf.getTime());
    expect(new Set(times).size).toBe(3);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    advanceTo(end);
    const ended = await newFactsOf(subscriptionRef);
    expect(last(ended, 'subscription')).toMatchObject({ state: 'ended', periodEnd: end });
    expect(only(ended, 'invoice')).toEqual([]);
  });
});

describe('a change', () => {
  test('charges the rest of the period immediately', async () => {
    const { subscriptionRef, start, end } = await subscribe();
    clock.advance(10 * DAY + 123);
    await processor.changeSubscription(subscriptionRef, vip);
    const facts = await newFactsOf(subscriptionRef);
    const whole = (end.getTime() - start.getTime()) / SECOND;
    const left = Math.floor((end.getTime() - clock.now().getTime()) / SECOND);
    const due = Math.round((9_990 * left) / whole) - Math.round((4_990 * left) / whole);
    expect(due).toBeGreaterThan(0);
    expect(last(facts, 'invoice')).toMatchObject({
      reason: 'change',
      state: 'paid',
      amountMinor: due,
      periodStart: clock.now(),
      periodEnd: end,
      paymentRef: expect.any(String),
    });
    expect(last(facts, 'subscription')).toMatchObject({
      productId: 'plan_vip',
      amountMinor: 9_990,
      periodEnd: end,
    });
    await processor.changeSubscription(subscriptionRef, vip);
    expect(await newFactsOf(subscriptionRef)).toEqual([]);
    expect(await nextInvoice(subscriptionRef)).toMatchObject({ amountMinor: 9_990, reason: 'renewal' });
    await processor.endSubscription(subscriptionRef, false);
  });

  test('to a cheaper product gives a credit that pays later invoices', async () => {
    const { subscriptionRef, start, end } = await subscribe(vip);
    await processor.changeSubscription(subscriptionRef, { ...monthly, amountMinor: 1_000 });
    const changed = await newFactsOf(subscriptionRef);
    // At the start of the period: the full old price less the full new one.
    expect(clock.now()).toEqual(start);
    expect(last(changed, 'invoice')).toMatchObject({ reason: 'change', amountMinor: 0, paymentRef: null });
    expect(last(changed, 'subscription').periodEnd).toEqual(end);
    const bills = [];
    for (let month = 0; month < 10; month += 1) bills.push(await nextInvoice(subscriptionRef));
    // 8,990 in credit.
    expect(bills.map((each) => each.amountMinor)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 10, 1_000]);
    expect(bills.every((each) => each.state === 'paid')).toBe(true);
    expect(bills.map((each) => each.paymentRef !== null).indexOf(true)).toBe(8);
    await processor.endSubscription(subscriptionRef, false);
  });

  test('to another interval starts a new period', async () => {
    const { subscriptionRef, start, end } = await subscribe();
    clock.advance(7 * DAY);
    await processor.changeSubscription(subscriptionRef, yearly);
    const facts = await newFactsOf(subscriptionRef);
    const rest = restOf(4_990, { period_start: start, period_end: end }, clock.now());
    expect(last(facts, 'invoice').amountMinor).toBe(49_000 - rest);
    expect(last(facts, 'subscription').periodEnd).toEqual(endOfPeriod(clock.now(), 'yearly', 1));
    await processor.endSubscription(subscriptionRef, false);
  });

  test('that cannot be paid has no effect', async () => {
    const { subscriptionRef, sessionRef } = await subscribe(monthly, CARDS.paysOnce);
    const before = await processor.lookUpSubscription(subscriptionRef);
    clock.advance(DAY);
    await refused(processor.changeSubscription(subscriptionRef, vip), 'declined');
    expect(await processor.lookUpSubscription(subscriptionRef)).toEqual(before);
    expect(await newFactsOf(subscriptionRef)).toEqual([]);
    expect((await processor.page.receipt(sessionRef))!.payments).toHaveLength(1);
    await processor.endSubscription(subscriptionRef, false);
  });

  test('is possible only to a recurring product in the same currency', async () => {
    const { subscriptionRef } = await subscribe();
    await refused(processor.changeSubscription(subscriptionRef, pro), 'invalid');
    await refused(processor.changeSubscription(subscriptionRef, { ...vip, currency: 'USD' }), 'invalid');
    await processor.endSubscription(subscriptionRef, false);
  });
});

describe('an end', () => {
  const subscribeAs = async (reference: string) => {
    const customer = { reference, email: 'ada@example.com', customerRef: null };
    const { subscriptionRef } = await buy(monthly, CARDS.pays, { customer });
    await newFacts();
    return subscriptionRef;
  };

  test.each([
    [true, 0],
    [false, 4_990],
  ])('with credit %s: the next bill of the same customer is %i', async (credit, amountMinor) => {
    const subscriptionRef = await subscribeAs(`dev_end_${credit}`);
    await Promise.all([
      processor.endSubscription(subscriptionRef, credit),
      open().endSubscription(subscriptionRef, credit),
    ]);
    expect(only(await newFactsOf(subscriptionRef), 'subscription')).toMatchObject([{ state: 'ended' }]);
    const another = await subscribeAs(`dev_end_${credit}`);
    expect(await nextInvoice(another)).toMatchObject({ amountMinor });
    await processor.endSubscription(another, false);
  });
});

describe('sums', () => {
  const price = fc.integer({ min: 1, max: 999_999_999_999_999 });
  const start = fc.date({
    min: new Date('2020-01-01'),
    max: new Date('2100-01-01'),
    noInvalidDate: true,
  });
  const interval = fc.constantFrom('monthly' as const, 'yearly' as const);
  /** How far into the period, from 0 to 1. */
  const share = fc.double({ min: 0, max: 1, noNaN: true });

  const periodOf = (from: Date, length: 'monthly' | 'yearly') => ({
    period_start: from,
    period_end: endOfPeriod(from, length, 1),
  });
  const within = ({ period_start: from, period_end: to }: ReturnType<typeof periodOf>, at: number) =>
    new Date(from.getTime() + Math.floor((to.getTime() - from.getTime()) * at));

  test('the rest of a period never exceeds its price, and falls to 0', () => {
    fc.assert(
      fc.property(price, start, interval, share, share, (amount, from, length, one, other) => {
        const period = periodOf(from, length);
        const [early, late] = [Math.min(one, other), Math.max(one, other)];
        expect(restOf(amount, period, from)).toBe(amount);
        expect(restOf(amount, period, period.period_end)).toBe(0);
        const rests = [early, late].map((at) => restOf(amount, period, within(period, at)));
        expect(rests.every((rest) => Number.isSafeInteger(rest) && rest >= 0 && rest <= amount)).toBe(true);
        expect(rests[0]).toBeGreaterThanOrEqual(rests[1]!);
      }),
    );
  });

  test('a change and its reversal at the same time cost nothing', () => {
    fc.assert(
      fc.property(price, price, start, interval, share, (one, other, from, length, at) => {
        const period = periodOf(from, length);
        const now = within(period, at);
        const there = restOf(other, period, now) - restOf(one, period, now);
        const back = restOf(one, period, now) - restOf(other, period, now);
        expect(there + back).toBe(0);
        // A change to a higher price costs at most the difference, rounded.
        if (other > one) expect(there).toBeGreaterThanOrEqual(0);
        expect(Math.abs(there)).toBeLessThanOrEqual(Math.abs(other - one) + 1);
      }),
    );
  });

  test('periods follow each other without a gap, on the day of the anchor', () => {
    fc.assert(
      fc.property(start, interval, fc.integer({ min: 1, max: 60 }), (from, length, periods) => {
        const end = endOfPeriod(from, length, periods);
        const months = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
        expect(months(end) - months(from)).toBe(periods * (length === 'monthly' ? 1 : 12));
        expect(end.getTime() % DAY).toBe(from.getTime() % DAY);
        const clamped = end.getUTCDate() < from.getUTCDate();
        if (clamped) expect(new Date(end.getTime() + DAY).getUTCDate()).toBe(1);
        else expect(end.getUTCDate()).toBe(from.getUTCDate());
        expect(endOfPeriod(from, length, periods + 1).getTime()).toBeGreaterThan(end.getTime());
      }),
    );
  });

  test('after any changes, the charges equal the usage plus the credit', async () => {
    const steps = fc.array(
      fc.record({ days: fc.integer({ min: 0, max: 9 }), amount: fc.integer({ min: 1, max: 20_000 }) }),
      { minLength: 1, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (changes) => {
        const { subscriptionRef, sessionRef, start, end, checkout } = await subscribe();
        const period = { period_start: start, period_end: end };
        let used = 4_990;
        let price = 4_990;
        for (const { days, amount } of changes) {
          const next = Math.min(clock.now().getTime() + days * DAY, end.getTime() - SECOND);
          advanceTo(new Date(next));
          used += restOf(amount, period, clock.now()) - restOf(price, period, clock.now());
          price = amount;
          await processor.changeSubscription(subscriptionRef, { ...monthly, amountMinor: amount });
        }
        const { payments } = (await processor.page.receipt(sessionRef))!;
        const charged = payments.reduce((sum, payment) => sum + payment.amountMinor, 0);
        const credit = await shop
          .knex('test_credits')
          .where({ customer_ref: checkout.customerRef })
          .first<{ amount_minor: number } | undefined>('amount_minor');
        expect(charged - (credit?.amount_minor ?? 0)).toBe(used);
        await processor.endSubscription(subscriptionRef, false);
      }),
      { numRuns: 25 },
    );
  });
});
