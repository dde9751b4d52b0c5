import type { Knex } from 'knex';
import type { DisputeFact } from '../../platform/payments/index.ts';

export interface InvoiceRow {
  readonly invoice_id: string;
  readonly developer_id: string;
  readonly checkout_id: string;
  readonly plan_id: string;
  readonly subscription_id: string | null;
  readonly processor: string;
  readonly invoice_ref: string;
  readonly payment_ref: string | null;
  readonly number: string | null;
  readonly reason: 'once' | 'first' | 'renewal' | 'change';
  readonly state: 'paid' | 'failed';
  readonly amount_minor: number;
  readonly currency: string;
  readonly refunded_minor: number;
  readonly dispute: DisputeFact['state'] | null;
  readonly units: number | null;
  readonly units_granted: number;
  readonly ever_granted: boolean;
  readonly period_start: Date | null;
  readonly period_end: Date | null;
  readonly receipt_url: string | null;
  readonly created_at: Date;
  /** Null for an invoice that was paid before the column existed, too. */
  readonly paid_at: Date | null;
}

/** Writes an invoice, or what is new about it: a paid one stays paid. @returns the row as it is now */
export async function upsertInvoice(trx: Knex.Transaction, row: InvoiceRow): Promise<InvoiceRow> {
  const known = trx('invoices').where({ processor: row.processor, invoice_ref: row.invoice_ref });
  const [before] = await known.clone().select<InvoiceRow[]>();
  if (!before) await trx('invoices').insert(row);
  else if (before.state === 'failed' || before.payment_ref === null) {
    const { payment_ref, number, state, amount_minor, period_start, period_end, receipt_url, paid_at } = row;
    const paid = before.state === 'paid' ? 'paid' : state;
    await known.clone().update({
      payment_ref: payment_ref ?? before.payment_ref,
      number: number ?? before.number,
      state: paid,
      ...(paid === state && { amount_minor, period_start, period_end }),
      ...(before.state === 'failed' && { paid_at }),
      receipt_url: receipt_url ?? before.receipt_url,
    });
  }
  const [after] = await known.clone().select<InvoiceRow[]>();
  return after!;
}

export async function updateInvoice(
  trx: Knex.Transaction,
  invoiceId: string,
  changes: Partial<InvoiceRow>,
): Promise<void> {
  await trx('invoices').where({ invoice_id: invoiceId }).update(changes);
}

export async function findInvoice(db: Knex, invoiceId: string): Promise<InvoiceRow | undefined> {
  return db<InvoiceRow>('invoices').where({ invoice_id: invoiceId }).first();
}

/** The paid invoices of a payment; usually one. */
export async function findInvoicesOfPayment(
  db: Knex,
  processor: string,
  paymentRef: string,
): Promise<InvoiceRow[]> {
  return db<InvoiceRow>('invoices')
    .where({ processor, payment_ref: paymentRef, state: 'paid' })
    .orderBy('invoice_id');
}

/**
 * The invoices that paid for the current period of a subscription: its own, and those of changes since it
 * began.
 */
export async function listPayingPresent(db: Knex, subscriptionId: string): Promise<InvoiceRow[]> {
  const paid = db<InvoiceRow>('invoices')
    .where({ subscription_id: subscriptionId, state: 'paid' })
    .where('amount_minor', '>', 0);
  const ofPeriod = await paid
    .clone()
    .where('reason', '<>', 'change')
    // Not by its end: after a change from years to months, periods end before the year would have.
    .orderBy([
      { column: 'period_start', order: 'desc' },
      { column: 'invoice_id', order: 'desc' },
    ])
    .first();
  const changes = paid.clone().where({ reason: 'change' });
  const since = ofPeriod?.period_start;
  const ofChanges = await (since ? changes.where('period_start', '>=', since) : changes);
  return [...(ofPeriod ? [ofPeriod] : []), ...ofChanges];
}

/** Newest first, of one developer or of all. */
export async function listInvoices(
  db: Knex,
  developerId: string | undefined,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<InvoiceRow[]> {
  const query = db<InvoiceRow>('invoices').orderBy('invoice_id', 'desc').limit(page.limit);
  if (developerId !== undefined) void query.where({ developer_id: developerId });
  return page.before === undefined ? query : query.where('invoice_id', '<', page.before);
}

export interface ReversalRow {
  readonly processor: string;
  readonly payment_ref: string;
  readonly refunded_minor: number;
  readonly dispute: DisputeFact['state'] | null;
  readonly dispute_as_of: Date | null;
}

export async function findReversal(
  db: Knex,
  processor: string,
  paymentRef: string,
): Promise<ReversalRow | undefined> {
  return db<ReversalRow>('payment_reversals').where({ processor, payment_ref: paymentRef }).first();
}

/** Records the refunded amount of a payment, which never decreases. */
export async function recordRefund(
  trx: Knex.Transaction,
  processor: string,
  paymentRef: string,
  refundedMinor: number,
): Promise<void> {
  await trx.raw(
    `insert into payment_reversals (processor, payment_ref, refunded_minor) values (?, ?, ?::bigint)
     on conflict (processor, payment_ref) do update
     set refunded_minor = greatest(payment_reversals.refunded_minor, excluded.refunded_minor)`,
    [processor, paymentRef, refundedMinor],
  );
}

/** Records a dispute, unless a later state is known. An older event does not reopen a decided dispute. */
export async function recordDispute(
  trx: Knex.Transaction,
  processor: string,
  { paymentRef, state, asOf }: DisputeFact,
): Promise<void> {
  await trx.raw(
    `insert into payment_reversals (processor, payment_ref, dispute, dispute_as_of) values (?, ?, ?, ?::timestamptz)
     on conflict (processor, payment_ref) do update
     set dispute = excluded.dispute, dispute_as_of = excluded.dispute_as_of
     where payment_reversals.dispute_as_of is null or payment_reversals.dispute_as_of < excluded.dispute_as_of
       or (payment_reversals.dispute_as_of = excluded.dispute_as_of and excluded.dispute <> 'open')`,
    [processor, paymentRef, state, asOf],
  );
}
