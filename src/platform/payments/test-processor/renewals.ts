import type { Knex } from 'knex';
import { endOfPeriod } from '../../calendar-state.ts';
import type { Context } from './context.ts';
import { nextRetryAt } from './period-state.ts';
import type { SubscriptionBilling } from './subscription-billing.ts';
import { invoiceFact } from './subscription-facts.ts';
import * as store from './subscription-store.ts';

type Trx = Knex.Transaction;
type Row = store.SubscriptionRow;

/** Renews subscriptions, and retries payments that failed. */
export interface Renewals {
  /** Makes all renewals and retries that are due by now. @returns the changed subscription */
  settle(trx: Trx, row: Row): Promise<Row>;
}

export function createRenewals(context: Context, billing: SubscriptionBilling): Renewals {
  const { clock, events, webUrl } = context;

  /** Ends the period: the next one begins, unless the subscription is canceled. */
  async function renew(trx: Trx, row: Row): Promise<Row> {
    if (row.cancel_at_period_end) return billing.update(trx, row, { state: 'ended', due_at: null });
    const period = {
      period_start: row.period_end,
      period_end: endOfPeriod(row.anchor_at, row.recurring, row.periods + 1),
      periods: row.periods + 1,
    };
    const paid = await billing.pay(trx, row, row.amount_minor);
    if (paid) {
      await billing.bill(trx, row, { reason: 'renewal', state: 'paid', ...paid }, period);
      return billing.update(trx, row, { ...period, due_at: period.period_end });
    }
    const failed = { state: 'failed', amount_minor: row.amount_minor, payment_ref: null } as const;
    await billing.bill(trx, row, { reason: 'renewal', ...failed }, period);
    const failed_at = clock.now();
    const due_at = nextRetryAt(failed_at, 0)!;
    return billing.update(trx, row, { ...period, state: 'past_due', failed_at, retries: 0, due_at });
  }

  /** Retries the payment that failed. */
  async function retry(trx: Trx, row: Row): Promise<Row> {
    const paid = await billing.pay(trx, row, row.amount_minor);
    const invoice = (await store.findLastInvoice(trx, row.subscription_ref))!;
    if (paid) {
      const changed = await store.updateInvoice(trx, invoice.invoice_ref, { state: 'paid', ...paid });
      await events.write(trx, 'invoice.paid', invoiceFact(changed, row, webUrl()));
      const healthy = { state: 'active', failed_at: null, retries: 0 } as const;
      return billing.update(trx, row, { ...healthy, due_at: row.period_end });
    }
    await events.write(trx, 'invoice.failed', invoiceFact(invoice, row, webUrl()));
    const retries = row.retries + 1;
    const due_at = nextRetryAt(row.failed_at!, retries);
    if (due_at) return billing.update(trx, row, { retries, due_at });
    return billing.update(trx, row, { state: 'ended', failed_at: null, due_at: null });
  }

  return {
    async settle(trx, row) {
      let present = row;
      while (present.due_at && present.due_at <= clock.now()) {
        present = await (present.state === 'past_due' ? retry(trx, present) : renew(trx, present));
      }
      return present;
    },
  };
}
