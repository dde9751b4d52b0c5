import type { Knex } from 'knex';

export interface PaymentRow {
  readonly payment_ref: string;
  readonly sequence: number;
  readonly session_ref: string | null;
  readonly charge_key: string | null;
  readonly token_digest: Buffer | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly refunded_minor: number;
  readonly dispute: 'open' | 'won' | 'lost' | null;
  readonly dispute_as_of: Date | null;
  readonly due_at: Date | null;
  readonly paid_at: Date;
}

export interface RefundRow {
  readonly refund_key: string;
  readonly payment_ref: string;
  readonly amount_minor: number;
  readonly created_at: Date;
}

export async function insertPayment(
  trx: Knex.Transaction,
  row: Pick<PaymentRow, 'payment_ref' | 'session_ref' | 'amount_minor' | 'currency' | 'due_at' | 'paid_at'>,
): Promise<void> {
  await trx<PaymentRow>('test_payments').insert(row);
}

/** @returns false if a charge with the same key exists, or the token was used */
export async function insertCharge(
  trx: Knex.Transaction,
  row: Pick<
    PaymentRow,
    'payment_ref' | 'charge_key' | 'token_digest' | 'amount_minor' | 'currency' | 'paid_at'
  >,
): Promise<boolean> {
  const inserted = await trx<PaymentRow>('test_payments')
    .insert(row)
    .onConflict()
    .ignore()
    .returning('payment_ref');
  return inserted.length > 0;
}

export async function findCharge(trx: Knex.Transaction, key: string): Promise<PaymentRow | undefined> {
  return trx<PaymentRow>('test_payments').where({ charge_key: key }).first();
}

/** Locks the row until the transaction ends. */
export async function lockPaymentForUpdate(
  trx: Knex.Transaction,
  paymentRef: string,
): Promise<PaymentRow | undefined> {
  return trx<PaymentRow>('test_payments').where({ payment_ref: paymentRef }).forUpdate().first();
}

export async function findPayments(
  trx: Knex.Transaction,
  paymentRefs: readonly string[],
): Promise<PaymentRow[]> {
  return trx<PaymentRow>('test_payments').whereIn('payment_ref', paymentRefs).orderBy('sequence');
}

/** The payments of a checkout and its subscription, the latest first. */
export async function listPayments(
  trx: Knex.Transaction,
  sessionRef: string,
  limit: number,
): Promise<PaymentRow[]> {
  return trx<PaymentRow>('test_payments')
    .where({ session_ref: sessionRef })
    .orderBy('sequence', 'desc')
    .limit(limit);
}

export async function updatePayment(
  trx: Knex.Transaction,
  paymentRef: string,
  changes: Partial<Pick<PaymentRow, 'refunded_minor' | 'dispute' | 'dispute_as_of' | 'due_at'>>,
): Promise<PaymentRow> {
  const [row] = await trx<PaymentRow & { fault: string | null }>('test_payments')
    .where({ payment_ref: paymentRef })
    .update({ ...changes, fault: null })
    .returning('*');
  return row!;
}

export async function findRefund(trx: Knex.Transaction, key: string): Promise<RefundRow | undefined> {
  return trx<RefundRow>('test_refunds').where({ refund_key: key }).first();
}

/** @returns false if another payment was refunded with the same key */
export async function insertRefund(trx: Knex.Transaction, row: RefundRow): Promise<boolean> {
  const inserted = await trx<RefundRow>('test_refunds')
    .insert(row)
    .onConflict()
    .ignore()
    .returning('refund_key');
  return inserted.length > 0;
}
