import type { Knex } from 'knex';
import { nextAsOf } from './as-of.ts';
import type { Context } from './context.ts';
import type { TestPayments } from './payments.ts';
import { newRef } from './reference.ts';
import { invoiceFact, subscriptionFact } from './subscription-facts.ts';
import * as store from './subscription-store.ts';

type Trx = Knex.Transaction;
type Row = store.SubscriptionRow;

/** What was charged to the card: 0 and no payment if a credit covers all of it. */
type Payment = Pick<store.InvoiceRow, 'amount_minor' | 'payment_ref'>;

/** Charges subscriptions and writes an event for each change. */
export interface SubscriptionBilling {
  /** Changes a subscription. */
  update(trx: Trx, row: Row, changes: Partial<Row>): Promise<Row>;
  /** Writes an invoice for a period. */
  bill(
    trx: Trx,
    row: Row,
    invoice: Payment & Pick<store.InvoiceRow, 'reason' | 'state'>,
    period: Pick<Row, 'period_start' | 'period_end'>,
  ): Promise<void>;
  /** Charges the card what no credit covers. @returns undefined if the card is declined; nothing has changed then */
  pay(trx: Trx, row: Row, amountMinor: number): Promise<Payment | undefined>;
}

export function createSubscriptionBilling(context: Context, payments: TestPayments): SubscriptionBilling {
  const { clock, random, events, webUrl } = context;

  return {
    async update(trx, row, changes) {
      const as_of = nextAsOf(row.as_of, clock.now());
      const changed = await store.updateSubscription(trx, row.subscription_ref, { ...changes, as_of });
      const change = changed.state === 'ended' ? 'ended' : 'updated';
      await events.write(trx, `subscription.${change}`, subscriptionFact(changed));
      return changed;
    },

    async bill(trx, row, invoice, { period_start, period_end }) {
      const inserted = await store.insertInvoice(trx, {
        invoice_ref: newRef(random, 'in'),
        subscription_ref: row.subscription_ref,
        currency: row.currency,
        period_start,
        period_end,
        created_at: clock.now(),
        ...invoice,
      });
      await events.write(trx, `invoice.${inserted.state}`, invoiceFact(inserted, row, webUrl()));
    },

    async pay(trx, row, amountMinor) {
      const credit = await store.lockCreditForUpdate(trx, row.customer_ref, row.currency);
      const covered = Math.min(credit, amountMinor);
      const rest = amountMinor - covered;
      if (rest > 0 && !row.card_pays) return undefined;
      if (covered > 0) await store.addCredit(trx, row.customer_ref, row.currency, -covered);
      if (rest === 0) return { amount_minor: 0, payment_ref: null };
      const payment_ref = await payments.take(trx, {
        sessionRef: row.session_ref,
        amountMinor: rest,
        currency: row.currency,
        disputed: false,
      });
      return { amount_minor: rest, payment_ref };
    },
  };
}
