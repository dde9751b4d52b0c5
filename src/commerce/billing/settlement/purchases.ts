import type { Knex } from 'knex';
import type { Clock } from '../../../platform/clock.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { PaymentProcessor } from '../../../platform/payments/index.ts';
import { findCheckout, type CheckoutRow } from '../checkout-store.ts';
import { upsertInvoice, type InvoiceRow } from '../invoice-store.ts';
import * as store from '../subscription-store.ts';
import type { SubscriptionRow } from '../subscription-store.ts';
import { Mismatch } from './mismatch.ts';

/** The checkouts, subscriptions and invoices that facts refer to. */
export interface Purchases {
  /** @throws Mismatch when there is no such checkout with this processor */
  checkoutOf(trx: Knex.Transaction, reference: string): Promise<CheckoutRow>;
  /**
   * The subscription of a checkout, written by the first fact that names it.
   * @throws Mismatch when it has another reference
   */
  subscriptionOf(
    trx: Knex.Transaction,
    checkout: CheckoutRow,
    subscriptionRef: string | null,
  ): Promise<SubscriptionRow>;
  /** Marks a subscription as paid: it is active until its own facts say otherwise. */
  markPaid(trx: Knex.Transaction, row: SubscriptionRow, periodEnd: Date | null): Promise<void>;
  /** Writes an invoice of a checkout, or what a fact adds to it. @returns the invoice as it is now */
  recordInvoice(
    trx: Knex.Transaction,
    checkout: CheckoutRow,
    known: Pick<
      InvoiceRow,
      'invoice_ref' | 'payment_ref' | 'state' | 'amount_minor' | 'receipt_url' | 'reason'
    > &
      Partial<InvoiceRow>,
  ): Promise<InvoiceRow>;
}

interface Dependencies {
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createPurchases({ payments, clock, newId }: Dependencies): Purchases {
  const { processor } = payments;

  return {
    async checkoutOf(trx, reference) {
      const checkout = await findCheckout(trx, reference);
      if (checkout?.processor === processor) return checkout;
      throw new Mismatch(`there is no checkout ${reference}`);
    },

    async subscriptionOf(trx, checkout, subscriptionRef) {
      const now = clock.now();
      const row = await store.ensureSubscription(trx, {
        subscription_id: newId('sub'),
        developer_id: checkout.developer_id,
        checkout_id: checkout.checkout_id,
        plan_id: checkout.plan_id,
        processor,
        subscription_ref: subscriptionRef,
        state: 'pending',
        paid: false,
        reversed: false,
        period_end: null,
        cancel_at_period_end: false,
        as_of: null,
        end_wanted: false,
        change_asked_at: null,
        looked_up_at: now,
        created_at: now,
        ended_at: null,
      });
      if (row.subscription_ref === subscriptionRef) return row;
      throw new Mismatch(`the subscription of ${checkout.checkout_id} is another one`);
    },

    async markPaid(trx, { subscription_id: id, state, paid, period_end: known }, periodEnd) {
      const later = known && periodEnd && known > periodEnd ? known : periodEnd;
      await store.updateSubscription(trx, id, {
        paid: true,
        // A subscription that was paid before was suspended: only its own facts resume it.
        ...(state === 'pending' && !paid && { state: 'active' as const }),
        period_end: later,
      });
    },

    recordInvoice(trx, checkout, known) {
      const now = clock.now();
      return upsertInvoice(trx, {
        invoice_id: newId('inv'),
        developer_id: checkout.developer_id,
        checkout_id: checkout.checkout_id,
        plan_id: checkout.plan_id,
        subscription_id: null,
        processor,
        number: null,
        currency: checkout.currency,
        refunded_minor: 0,
        dispute: null,
        units: null,
        units_granted: 0,
        ever_granted: false,
        period_start: null,
        period_end: null,
        created_at: now,
        paid_at: known.state === 'paid' ? now : null,
        ...known,
      });
    },
  };
}
