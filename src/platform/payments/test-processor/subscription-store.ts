import type { Knex } from 'knex';
import type { Interval } from '../../calendar-state.ts';

export interface SubscriptionRow {
  readonly subscription_ref: string;
  readonly session_ref: string;
  readonly reference: string;
  readonly product_id: string;
  readonly product_name: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly recurring: Interval;
  readonly customer_ref: string;
  readonly card_pays: boolean;
  readonly state: 'active' | 'past_due' | 'ended';
  readonly anchor_at: Date;
  readonly periods: number;
  readonly period_start: Date;
  readonly period_end: Date;
  readonly cancel_at_period_end: boolean;
  readonly failed_at: Date | null;
  readonly retries: number;
  readonly due_at: Date | null;
  readonly as_of: Date;
}

export interface InvoiceRow {
  readonly invoice_ref: string;
  readonly sequence: number;
  readonly subscription_ref: string;
  readonly reason: 'first' | 'renewal' | 'change';
  readonly state: 'paid' | 'failed';
  readonly amount_minor: number;
  readonly currency: string;
  readonly payment_ref: string | null;
  readonly period_start: Date;
  readonly period_end: Date;
  readonly created_at: Date;
}

export async function insertSubscription(trx: Knex.Transaction, row: SubscriptionRow): Promise<void> {
  await trx<SubscriptionRow>('test_subscriptions').insert(row);
}

/** Locks the row until the transaction ends. */
export async function lockSubscriptionForUpdate(
  trx: Knex.Transaction,
  subscriptionRef: string,
): Promise<SubscriptionRow | undefined> {
  return trx<SubscriptionRow>('test_subscriptions')
    .where({ subscription_ref: subscriptionRef })
    .forUpdate()
    .first();
}

export async function updateSubscription(
  trx: Knex.Transaction,
  subscriptionRef: string,
  changes: Partial<SubscriptionRow>,
): Promise<SubscriptionRow> {
  const [row] = await trx<SubscriptionRow & { fault: string | null }>('test_subscriptions')
    .where({ subscription_ref: subscriptionRef })
    .update({ ...changes, fault: null })
    .returning('*');
  return row!;
}

export async function insertInvoice(
  trx: Knex.Transaction,
  row: Omit<InvoiceRow, 'sequence'>,
): Promise<InvoiceRow> {
  const [inserted] = await trx<InvoiceRow>('test_invoices').insert(row).returning('*');
  return inserted!;
}

export async function updateInvoice(
  trx: Knex.Transaction,
  invoiceRef: string,
  changes: Pick<InvoiceRow, 'state' | 'amount_minor' | 'payment_ref'>,
): Promise<InvoiceRow> {
  const [row] = await trx<InvoiceRow>('test_invoices')
    .where({ invoice_ref: invoiceRef })
    .update(changes)
    .returning('*');
  return row!;
}

export async function findLastInvoice(
  trx: Knex.Transaction,
  subscriptionRef: string,
): Promise<InvoiceRow | undefined> {
  return trx<InvoiceRow>('test_invoices')
    .where({ subscription_ref: subscriptionRef })
    .orderBy('sequence', 'desc')
    .first();
}

export async function findFirstInvoice(
  trx: Knex.Transaction,
  subscriptionRef: string,
): Promise<InvoiceRow | undefined> {
  return trx<InvoiceRow>('test_invoices')
    .where({ subscription_ref: subscriptionRef })
    .orderBy('sequence')
    .first();
}

/** The credit of a customer, locked until the transaction ends. */
export async function lockCreditForUpdate(
  trx: Knex.Transaction,
  customerRef: string,
  currency: string,
): Promise<number> {
  const row = await trx<{ customer_ref: string; currency: string; amount_minor: number }>('test_credits')
    .where({ customer_ref: customerRef, currency })
    .forUpdate()
    .first('amount_minor');
  return row?.amount_minor ?? 0;
}

/** @param amountMinor below 0 to spend credit */
export async function addCredit(
  trx: Knex.Transaction,
  customerRef: string,
  currency: string,
  amountMinor: number,
): Promise<void> {
  if (amountMinor < 0) {
    await trx('test_credits')
      .where({ customer_ref: customerRef, currency })
      .increment('amount_minor', amountMinor);
    return;
  }
  await trx.raw(
    `insert into test_credits as c (customer_ref, currency, amount_minor) values (?, ?, ?)
     on conflict (customer_ref, currency) do update set amount_minor = c.amount_minor + excluded.amount_minor`,
    [customerRef, currency, amountMinor],
  );
}
