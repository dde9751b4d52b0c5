import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { PaymentsError } from '../errors.ts';
import type { OpenedCheckout, Order } from '../order.ts';
import type { CheckoutFact, PaymentFact } from '../payment-fact.ts';
import { readCard, type CardForm } from './card-state.ts';
import type { CheckoutView, PayResult } from './checkout-page.ts';
import * as store from './checkout-store.ts';
import type { Context } from './context.ts';
import { doFirstDue } from './due-rows.ts';
import type { TestPayments } from './payments.ts';
import { pageUrl, receiptUrl } from './receipt.ts';
import { newRef } from './reference.ts';
import type { TestSubscriptions } from './subscriptions.ts';

const BANK_DELAY_MS = 30_000;
/** How long the page of an unpaid purchase still shows its state. */
const UNPAID_KEPT_MS = 90 * 86_400_000;
const CLEARED_PER_CALL = 1_000;

type Trx = Knex.Transaction;
type Row = store.CheckoutRow;

/** Purchases, from the order to the payment. */
export interface TestCheckouts {
  open(order: Order): Promise<OpenedCheckout>;
  pay(sessionRef: string, form: CardForm): Promise<PayResult | undefined>;
  authenticate(sessionRef: string, approved: boolean): Promise<PayResult | undefined>;
  /** Locks a purchase and brings it up to date. */
  find(trx: Trx, sessionRef: string): Promise<Row | undefined>;
  factOf(row: Row): CheckoutFact;
  /** Processes the purchase that came due first. @returns whether there was one */
  doDue(): Promise<boolean>;
  /** Deletes some that ended long ago without a payment: nothing else refers to them. @returns how many */
  clearUnpaid(): Promise<number>;
}

export function createTestCheckouts(
  context: Context,
  payments: TestPayments,
  subscriptions: TestSubscriptions,
): TestCheckouts {
  const { clock, random, events, change, webUrl } = context;

  const factOf = (row: Row): CheckoutFact => checkoutFact(row, webUrl());

  async function writeEvent(trx: Trx, row: Row): Promise<Row> {
    await events.write(trx, `checkout.${row.state}`, factOf(row) satisfies PaymentFact);
    return row;
  }

  async function complete(trx: Trx, row: Row, { disputed = false, cardPays = true } = {}): Promise<Row> {
    const paymentRef = await payments.take(trx, {
      sessionRef: row.session_ref,
      amountMinor: row.amount_minor,
      currency: row.currency,
      disputed,
    });
    const subscriptionRef = row.recurring && (await subscriptions.begin(trx, row, paymentRef, cardPays));
    const paid = await store.updateCheckout(trx, row.session_ref, {
      state: 'paid',
      due_at: null,
      payment_ref: paymentRef,
      subscription_ref: subscriptionRef,
    });
    return writeEvent(trx, paid);
  }

  /** Makes the change that is due by now, if another process has not made it yet. */
  async function settle(trx: Trx, row: Row): Promise<Row> {
    if (!row.due_at || row.due_at > clock.now()) return row;
    if (row.state === 'processing' && row.bank_pays) return complete(trx, row);
    const state = row.state === 'processing' ? 'failed' : 'expired';
    return writeEvent(trx, await store.updateCheckout(trx, row.session_ref, { state, due_at: null }));
  }

  async function find(trx: Trx, sessionRef: string): Promise<Row | undefined> {
    const row = await store.lockCheckoutForUpdate(trx, sessionRef);
    return row && settle(trx, row);
  }

  async function submit(trx: Trx, row: Row, form: CardForm): Promise<PayResult> {
    const card = readCard(form, clock.now());
    if (typeof card === 'object') return { checkout: viewOf(row), faults: card };
    switch (card) {
      case 'declined':
        return { checkout: viewOf(row), declined: 'The card was declined. Try another card.' };
      case 'authenticates':
        return {
          checkout: viewOf(await store.updateCheckout(trx, row.session_ref, { state: 'authenticating' })),
        };
      case 'delayed':
      case 'delayed_failure': {
        const due_at = new Date(clock.now().getTime() + BANK_DELAY_MS);
        const waiting = await store.updateCheckout(trx, row.session_ref, {
          state: 'processing',
          bank_pays: card === 'delayed',
          due_at,
        });
        return { checkout: viewOf(await writeEvent(trx, waiting)) };
      }
      case 'pays':
      case 'disputed':
      case 'pays_once': {
        const options = { disputed: card === 'disputed', cardPays: card !== 'pays_once' };
        return { checkout: viewOf(await complete(trx, row, options)) };
      }
    }
  }

  return {
    open: (order) =>
      change(async (trx) => {
        checkOrder(order);
        const row = newCheckout(newRef(random, 'cs'), order, clock.now());
        const sessionRef = await store.insertOrFindCheckout(trx, row);
        return { sessionRef, url: pageUrl(webUrl(), sessionRef) };
      }),

    pay: (sessionRef, form) =>
      change(async (trx) => {
        const row = await find(trx, sessionRef);
        if (!row) return undefined;
        return row.state === 'open' ? submit(trx, row, form) : { checkout: viewOf(row) };
      }),

    authenticate: (sessionRef, approved) =>
      change(async (trx) => {
        const row = await find(trx, sessionRef);
        if (!row) return undefined;
        if (row.state !== 'authenticating') return { checkout: viewOf(row) };
        if (approved) return { checkout: viewOf(await complete(trx, row)) };
        const open = await store.updateCheckout(trx, sessionRef, { state: 'open' });
        const declined = 'Your bank did not approve the payment. Try again or use another card.';
        return { checkout: viewOf(open), declined };
      }),

    find,
    factOf,

    doDue: () => doFirstDue(context, 'test_checkouts', settle),

    clearUnpaid: () =>
      change((trx) =>
        store.deleteUnpaid(trx, new Date(clock.now().getTime() - UNPAID_KEPT_MS), CLEARED_PER_CALL),
      ),
  };
}

/** A purchase that can be paid. */
function newCheckout(sessionRef: string, order: Order, now: Date): Row {
  const { reference, product, customer, successUrl, cancelUrl, expiresAt } = order;
  return {
    session_ref: sessionRef,
    reference,
    product_id: product.productId,
    product_name: product.name,
    amount_minor: product.amountMinor,
    currency: product.currency,
    recurring: product.recurring,
    customer_ref: customer.customerRef ?? customerRef(customer.reference),
    email: customer.email,
    success_url: successUrl,
    cancel_url: cancelUrl,
    state: 'open',
    bank_pays: true,
    due_at: expiresAt,
    subscription_ref: null,
    payment_ref: null,
    created_at: now,
    expires_at: expiresAt,
  };
}

function checkoutFact(row: Row, webUrl: string): CheckoutFact {
  return {
    kind: 'checkout',
    sessionRef: row.session_ref,
    reference: row.reference,
    state: row.state === 'authenticating' ? 'open' : row.state,
    amountMinor: row.amount_minor,
    currency: row.currency,
    paymentRef: row.payment_ref,
    subscriptionRef: row.subscription_ref,
    customerRef: row.payment_ref && row.customer_ref,
    receiptUrl: row.state === 'paid' ? receiptUrl(webUrl, row.session_ref) : null,
  };
}

/** A purchase as its page shows it. */
export function viewOf(row: Row): CheckoutView {
  return {
    sessionRef: row.session_ref,
    state: row.state,
    productName: row.product_name,
    amountMinor: row.amount_minor,
    currency: row.currency,
    recurring: row.recurring,
    email: row.email,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
  };
}

function checkOrder({ product, successUrl, cancelUrl }: Order): void {
  if (!Number.isSafeInteger(product.amountMinor) || product.amountMinor < 1) {
    throw new PaymentsError('invalid', 'The amount is not a whole number of minor units above 0.');
  }
  if (!Intl.supportedValuesOf('currency').includes(product.currency)) {
    throw new PaymentsError('invalid', 'The currency does not exist.');
  }
  // They become links, which must never be `javascript:`.
  if (![successUrl, cancelUrl].every((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''))) {
    throw new PaymentsError('invalid', 'A return URL is not http or https.');
  }
}

/** Derived, so that all purchases of a customer have the same one. */
function customerRef(reference: string): string {
  return `cu_test_${hash('sha256', reference, 'base64url').slice(0, 32)}`;
}
