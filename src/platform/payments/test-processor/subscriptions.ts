import type { Knex } from 'knex';
import { endOfPeriod } from '../../calendar-state.ts';
import { PaymentsError } from '../errors.ts';
import type { Product } from '../order.ts';
import type { PaymentFact } from '../payment-fact.ts';
import type { CheckoutRow } from './checkout-store.ts';
import type { Context } from './context.ts';
import { doFirstDue } from './due-rows.ts';
import type { TestPayments } from './payments.ts';
import { restOf } from './period-state.ts';
import { newRef } from './reference.ts';
import { createRenewals } from './renewals.ts';
import { createSubscriptionBilling } from './subscription-billing.ts';
import { invoiceFact, subscriptionFact } from './subscription-facts.ts';
import * as store from './subscription-store.ts';

type Trx = Knex.Transaction;
type Row = store.SubscriptionRow;

/** Subscriptions with their changes and payments. */
export interface TestSubscriptions {
  /** Creates one for a paid checkout. @param cardPays whether the card pays renewals @returns its id */
  begin(trx: Trx, checkout: CheckoutRow, paymentRef: string, cardPays: boolean): Promise<string>;
  change(subscriptionRef: string, product: Product): Promise<void>;
  setCancellation(subscriptionRef: string, atPeriodEnd: boolean): Promise<void>;
  end(subscriptionRef: string, credit: boolean): Promise<void>;
  /** Sets whether the card pays the next payments. */
  setCard(subscriptionRef: string, pays: boolean): Promise<void>;
  /** The subscription, its last invoice, and the refunds and disputes of its first and last payment. */
  factsOf(trx: Trx, subscriptionRef: string): Promise<PaymentFact[]>;
  /** Processes the subscription that came due first. @returns whether there was one */
  doDue(): Promise<boolean>;
}

export function createTestSubscriptions(context: Context, payments: TestPayments): TestSubscriptions {
  const { clock, random, events, change, webUrl } = context;
  const billing = createSubscriptionBilling(context, payments);
  const { settle } = createRenewals(context, billing);

  async function lockForUpdate(trx: Trx, subscriptionRef: string): Promise<Row> {
    const row = await store.lockSubscriptionForUpdate(trx, subscriptionRef);
    if (!row) throw new PaymentsError('not_found', 'The subscription does not exist.');
    return settle(trx, row);
  }

  async function lockRunningForUpdate(trx: Trx, subscriptionRef: string): Promise<Row> {
    const row = await lockForUpdate(trx, subscriptionRef);
    if (row.state === 'ended') throw new PaymentsError('invalid', 'The subscription has ended.');
    return row;
  }

  return {
    async begin(trx, checkout, paymentRef, cardPays) {
      const row = newSubscription(newRef(random, 'su'), checkout, cardPays, clock.now());
      await store.insertSubscription(trx, row);
      await events.write(trx, 'subscription.created', subscriptionFact(row));
      const paid = { amount_minor: row.amount_minor, payment_ref: paymentRef };
      await billing.bill(trx, row, { reason: 'first', state: 'paid', ...paid }, row);
      return row.subscription_ref;
    },

    change: (subscriptionRef, product) =>
      change(async (trx) => {
        const row = await lockRunningForUpdate(trx, subscriptionRef);
        const { productId, name, amountMinor, currency, recurring } = product;
        if (recurring === null || currency !== row.currency || !(amountMinor > 0)) {
          throw new PaymentsError('invalid', 'A subscription cannot move to this product.');
        }
        const before = [row.product_id, row.amount_minor, row.recurring].join();
        if (before === [productId, amountMinor, recurring].join()) return;
        if (row.state === 'past_due') throw new PaymentsError('declined', 'The last invoice is not paid.');

        const now = clock.now();
        // Another interval starts a new period now.
        const period =
          recurring === row.recurring
            ? { period_start: row.period_start, period_end: row.period_end }
            : { period_start: now, period_end: endOfPeriod(now, recurring, 1), anchor_at: now, periods: 1 };
        const rest = restOf(amountMinor, period, now) - restOf(row.amount_minor, row, now);
        const paid = await billing.pay(trx, row, Math.max(0, rest));
        if (!paid) throw new PaymentsError('declined', 'The card was declined.');
        if (rest < 0) await store.addCredit(trx, row.customer_ref, currency, -rest);
        const changed = await billing.update(trx, row, {
          product_id: productId,
          product_name: name,
          amount_minor: amountMinor,
          recurring,
          ...period,
          due_at: period.period_end,
        });
        await billing.bill(
          trx,
          changed,
          { reason: 'change', state: 'paid', ...paid },
          { period_start: now, period_end: period.period_end },
        );
      }),

    setCancellation: (subscriptionRef, atPeriodEnd) =>
      change(async (trx) => {
        const row = await lockRunningForUpdate(trx, subscriptionRef);
        if (row.cancel_at_period_end === atPeriodEnd) return;
        await billing.update(trx, row, { cancel_at_period_end: atPeriodEnd });
      }),

    end: (subscriptionRef, credit) =>
      change(async (trx) => {
        const row = await lockForUpdate(trx, subscriptionRef);
        if (row.state === 'ended') return;
        // An unpaid period gives no credit.
        const rest = credit && row.state === 'active' ? restOf(row.amount_minor, row, clock.now()) : 0;
        if (rest > 0) await store.addCredit(trx, row.customer_ref, row.currency, rest);
        await billing.update(trx, row, { state: 'ended', failed_at: null, due_at: null });
      }),

    setCard: (subscriptionRef, pays) =>
      change(async (trx) => {
        const row = await lockRunningForUpdate(trx, subscriptionRef);
        await store.updateSubscription(trx, row.subscription_ref, { card_pays: pays });
      }),

    async factsOf(trx, subscriptionRef) {
      const row = await lockForUpdate(trx, subscriptionRef);
      const invoice = (await store.findLastInvoice(trx, subscriptionRef))!;
      const first = await store.findFirstInvoice(trx, subscriptionRef);
      const paymentRefs = [first, invoice].flatMap((each) => each?.payment_ref ?? []);
      const facts = await payments.factsOf(trx, paymentRefs);
      return [subscriptionFact(row), invoiceFact(invoice, row, webUrl()), ...facts];
    },

    doDue: () => doFirstDue(context, 'test_subscriptions', settle),
  };
}

/** A subscription whose first period has just been paid. */
function newSubscription(subscriptionRef: string, checkout: CheckoutRow, cardPays: boolean, now: Date): Row {
  const recurring = checkout.recurring!;
  const end = endOfPeriod(now, recurring, 1);
  return {
    subscription_ref: subscriptionRef,
    session_ref: checkout.session_ref,
    reference: checkout.reference,
    product_id: checkout.product_id,
    product_name: checkout.product_name,
    amount_minor: checkout.amount_minor,
    currency: checkout.currency,
    recurring,
    customer_ref: checkout.customer_ref,
    card_pays: cardPays,
    state: 'active',
    anchor_at: now,
    periods: 1,
    period_start: now,
    period_end: end,
    cancel_at_period_end: false,
    failed_at: null,
    retries: 0,
    due_at: end,
    as_of: now,
  };
}
