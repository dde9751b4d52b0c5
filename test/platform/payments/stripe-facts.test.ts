import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import {
  checkoutFact,
  disputeFact,
  invoiceFact,
  invoiceState,
  refundFact,
  subscriptionFact,
} from '../../../src/platform/payments/stripe/facts.ts';

const asOf = new Date('2026-11-21T10:00:00Z');
const START = asOf.getTime() / 1000;
const END = START + 30 * 86_400;

const session = (changes: object = {}) =>
  ({
    id: 'cs_test_1',
    amount_total: 4_990,
    currency: 'eur',
    customer: null,
    invoice: null,
    metadata: { reference: 'chk_1' },
    mode: 'payment',
    payment_intent: 'pi_1',
    payment_status: 'paid',
    status: 'complete',
    subscription: null,
    ...changes,
  }) as unknown as Stripe.Checkout.Session;

const invoice = (changes: object = {}) =>
  ({
    id: 'in_1',
    amount_due: 4_990,
    amount_paid: 4_990,
    attempted: true,
    billing_reason: 'subscription_cycle',
    currency: 'eur',
    lines: { data: [] },
    number: 'LK-1',
    parent: { subscription_details: { metadata: { reference: 'chk_1' }, subscription: 'sub_1' } },
    period_start: START - 10,
    period_end: START,
    starting_balance: 0,
    ending_balance: 0,
    status: 'paid',
    ...changes,
  }) as unknown as Stripe.Invoice;

const payment = (status: string, paymentRef: string | undefined, is_default = false) =>
  ({
    status,
    is_default,
    payment: { type: 'payment_intent', payment_intent: paymentRef },
  }) as unknown as Stripe.InvoicePayment;

const item = (changes: object = {}) => ({
  current_period_end: END,
  price: { currency: 'eur', product: 'latchkey_plan_1', unit_amount: 4_990, ...changes },
  quantity: 1,
});

const subscription = (changes: object = {}) =>
  ({
    id: 'sub_1',
    cancel_at: null,
    cancel_at_period_end: false,
    customer: 'cus_1',
    items: { data: [item()] },
    metadata: { reference: 'chk_1', product_id: 'plan_0' },
    status: 'active',
    ...changes,
  }) as unknown as Stripe.Subscription;

describe('a session', () => {
  test.each([
    ['open', { status: 'open', payment_status: 'unpaid' }],
    ['expired', { status: 'expired', payment_status: 'unpaid' }],
    ['processing', { payment_status: 'unpaid' }],
    ['processing', { payment_status: 'unpaid', payment_intent: { id: 'pi_1', status: 'processing' } }],
    ['failed', { payment_status: 'unpaid', payment_intent: { id: 'pi_1', status: 'canceled' } }],
    [
      'failed',
      { payment_status: 'unpaid', payment_intent: { id: 'pi_1', status: 'requires_payment_method' } },
    ],
    ['failed', { payment_status: 'unpaid', payment_intent: null, invoice: { id: 'in_1', status: 'void' } }],
    ['paid', {}],
    ['paid', { payment_status: 'no_payment_required', amount_total: 0, payment_intent: null }],
  ])('is %s: %o', (state, changes) => {
    expect(checkoutFact(session(changes))).toMatchObject({ state, reference: 'chk_1' });
  });

  test('of another service, or without an amount, is ignored', () => {
    expect(checkoutFact(session({ metadata: {} }))).toBeUndefined();
    expect(checkoutFact(session({ metadata: null }))).toBeUndefined();
    expect(checkoutFact(session({ amount_total: null, currency: null }))).toBeUndefined();
  });

  test('that a credit covers has no payment', () => {
    const fact = checkoutFact(
      session({ amount_total: 0, payment_status: 'no_payment_required', payment_intent: null }),
    );
    expect(fact).toMatchObject({ amountMinor: 0, paymentRef: null, receiptUrl: null });
  });

  test('of a subscription has the payment and the page of its invoice', () => {
    const first = {
      id: 'in_1',
      payments: { data: [payment('paid', 'pi_2')] },
      hosted_invoice_url: 'https://i',
    };
    const fact = checkoutFact(session({ payment_intent: null, subscription: 'sub_1', invoice: first }));
    expect(fact).toMatchObject({ paymentRef: 'pi_2', subscriptionRef: 'sub_1', receiptUrl: 'https://i' });
  });

  test('in krónur', () => {
    expect(checkoutFact(session({ amount_total: 700_000, currency: 'isk' }))).toMatchObject({
      amountMinor: 7_000,
      currency: 'ISK',
    });
  });
});

describe('an invoice', () => {
  test.each([
    ['subscription_create', 'first'],
    ['subscription_cycle', 'renewal'],
    ['subscription_update', 'change'],
    ['manual', 'change'],
    [null, 'change'],
  ])('because of %s is of a %s', (billing_reason, reason) => {
    expect(invoiceFact(invoice({ billing_reason }), 'paid', [], 'chk_1')).toMatchObject({ reason });
  });

  test('that a credit covers has no payment', () => {
    const fact = invoiceFact(invoice({ amount_due: 0, amount_paid: 0 }), 'paid', [], 'chk_1');
    expect(fact).toMatchObject({ state: 'paid', amountMinor: 0, paymentRef: null });
  });

  test.each([
    [-1_500, 0, 1_500],
    [-9_000, -4_010, 4_990],
    [0, 0, 0],
    [0, null, 0],
    [0, -500, 0],
  ])(
    'has what a credit covers: of a balance from %s to %s, %s',
    (starting_balance, ending_balance, credit) => {
      const fact = invoiceFact(invoice({ starting_balance, ending_balance }), 'paid', [], 'chk_1');
      expect(fact).toMatchObject({ creditMinor: credit });
    },
  );

  test('without a subscription is ignored', () => {
    expect(invoiceFact(invoice({ parent: null }), 'paid', [], 'chk_1')).toBeUndefined();
    const quote = { subscription_details: null, quote_details: { quote: 'qt_1' } };
    expect(invoiceFact(invoice({ parent: quote }), 'paid', [], 'chk_1')).toBeUndefined();
  });

  test('has the payment that succeeded, or the current attempt if it failed', () => {
    const payments = [
      payment('canceled', 'pi_1', true),
      payment('open', 'pi_2'),
      payment('open', 'pi_3', true),
      payment('paid', 'pi_4'),
    ];
    const of = (some: typeof payments) => invoiceFact(invoice(), 'failed', some, 'chk_1')?.paymentRef;
    expect(of(payments)).toBe('pi_4');
    expect(of(payments.slice(0, 3))).toBe('pi_3');
    expect(of(payments.slice(0, 2))).toBeNull();
    expect(of([payment('paid', undefined)])).toBeNull();
  });

  test('that failed has the amount that could not be charged', () => {
    const failed = invoice({ amount_paid: 0, status: 'open' });
    expect(invoiceFact(failed, 'failed', [], 'chk_1')).toMatchObject({ amountMinor: 4_990 });
  });

  test('is for the period that its lines pay in advance', () => {
    const period = (...periods: [number, number][]) => {
      const lines = { data: periods.map(([start, end]) => ({ period: { start, end } })) };
      const { periodStart, periodEnd } = invoiceFact(invoice({ lines }), 'paid', [], 'chk_1')!;
      return [periodStart.getTime() / 1000, periodEnd.getTime() / 1000];
    };
    expect(period([START, END])).toEqual([START, END]);
    // A change in the middle: the rest of the old product is credited, and the new one starts.
    expect(period([START + 99, END], [START + 99, END + 335 * 86_400])).toEqual([
      START + 99,
      END + 335 * 86_400,
    ]);
    // A renewal that also bills an earlier change.
    expect(period([START - 50, START], [START, END])).toEqual([START, END]);
    expect(period([START, END], [START + 99, END])).toEqual([START + 99, END]);
    expect(period()).toEqual([START - 10, START]);
  });

  test.each([
    ['paid', true, 'paid'],
    ['open', true, 'failed'],
    ['open', false, undefined],
    ['uncollectible', true, 'failed'],
    ['draft', false, undefined],
    ['void', true, undefined],
  ])('that is %s, attempted %s: %s', (status, attempted, state) => {
    expect(invoiceState(invoice({ status, attempted }))).toBe(state);
  });
});

describe('a subscription', () => {
  test.each([
    ['incomplete', 'pending'],
    ['incomplete_expired', 'ended'],
    ['trialing', 'active'],
    ['active', 'active'],
    ['past_due', 'past_due'],
    ['unpaid', 'unpaid'],
    ['paused', 'unpaid'],
    ['canceled', 'ended'],
  ])('that is %s is %s', (status, state) => {
    expect(subscriptionFact(subscription({ status }), asOf)).toMatchObject({ state, asOf });
  });

  test('pays for the product of its price, or the one in its metadata', () => {
    expect(subscriptionFact(subscription(), asOf)?.productId).toBe('plan_1');
    const other = { data: [item({ product: 'prod_other' })] };
    expect(subscriptionFact(subscription({ items: other }), asOf)?.productId).toBe('plan_0');
    const metadata = { reference: 'chk_1' };
    expect(subscriptionFact(subscription({ items: other, metadata }), asOf)).toBeUndefined();
  });

  test('of another service, without items, or in an unknown state is ignored', () => {
    expect(subscriptionFact(subscription({ metadata: { product_id: 'plan_1' } }), asOf)).toBeUndefined();
    expect(subscriptionFact(subscription({ items: { data: [] } }), asOf)).toBeUndefined();
    expect(subscriptionFact(subscription({ status: 'hibernating' }), asOf)).toBeUndefined();
  });

  test('ends with its period, whichever member says so', () => {
    const ends = (changes: object) => subscriptionFact(subscription(changes), asOf)?.cancelAtPeriodEnd;
    expect(ends({})).toBe(false);
    expect(ends({ cancel_at_period_end: true })).toBe(true);
    expect(ends({ cancel_at: END })).toBe(true);
    expect(ends({ cancel_at: END + 86_400 })).toBe(false);
  });

  test('is free, or in krónur', () => {
    const amount = (changes: object) => {
      const items = { data: [item(changes)] };
      return subscriptionFact(subscription({ items }), asOf)?.amountMinor;
    };
    expect(amount({ unit_amount: 0 })).toBe(0);
    expect(amount({ unit_amount: null })).toBe(0);
    expect(amount({ unit_amount: 700_000, currency: 'isk' })).toBe(7_000);
  });
});

describe('a refund', () => {
  const charge = (changes: object) =>
    ({
      amount_refunded: 990,
      currency: 'eur',
      payment_intent: 'pi_1',
      ...changes,
    }) as unknown as Stripe.Charge;

  test('is of a payment', () => {
    expect(refundFact(charge({ payment_intent: { id: 'pi_1' } }))).toMatchObject({ paymentRef: 'pi_1' });
    expect(refundFact(charge({ payment_intent: null }))).toBeUndefined();
  });

  test('in krónur', () => {
    expect(refundFact(charge({ currency: 'isk', amount_refunded: 50_000 }))).toMatchObject({
      refundedMinor: 500,
      currency: 'ISK',
    });
  });
});

describe('a dispute', () => {
  const dispute = (status: string, payment_intent: string | null = 'pi_1') =>
    ({ status, payment_intent }) as unknown as Stripe.Dispute;

  test.each([
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['appeal_under_review', 'open'],
    ['won', 'won'],
    ['lost', 'lost'],
  ])('that is %s is %s', (status, state) => {
    expect(disputeFact(dispute(status), asOf)).toMatchObject({ paymentRef: 'pi_1', state, asOf });
  });

  test('whose money was returned is won, regardless of its status', () => {
    expect(disputeFact(dispute('under_review'), asOf, true)?.state).toBe('won');
  });

  test.each(['warning_needs_response', 'warning_under_review', 'warning_closed', 'prevented'])(
    'that is %s is ignored because it moves no money',
    (status) => {
      expect(disputeFact(dispute(status), asOf)).toBeUndefined();
    },
  );

  test('without a payment is ignored', () => {
    expect(disputeFact(dispute('lost', null), asOf)).toBeUndefined();
  });
});
