import type { Knex } from 'knex';
import type { Interval } from '../../calendar-state.ts';

export type CheckoutState = 'open' | 'authenticating' | 'processing' | 'paid' | 'failed' | 'expired';

export interface CheckoutRow {
  readonly session_ref: string;
  readonly reference: string;
  readonly product_id: string;
  readonly product_name: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly recurring: Interval | null;
  readonly customer_ref: string;
  readonly email: string;
  readonly success_url: string;
  readonly cancel_url: string;
  readonly state: CheckoutState;
  readonly bank_pays: boolean;
  readonly due_at: Date | null;
  readonly subscription_ref: string | null;
  readonly payment_ref: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

type Changes = Partial<
  Pick<CheckoutRow, 'state' | 'bank_pays' | 'due_at' | 'subscription_ref' | 'payment_ref'>
>;

/** @returns the session of the reference, new or existing */
export async function insertOrFindCheckout(trx: Knex.Transaction, row: CheckoutRow): Promise<string> {
  await trx<CheckoutRow>('test_checkouts').insert(row).onConflict('reference').ignore();
  const found = await trx<CheckoutRow>('test_checkouts')
    .where({ reference: row.reference })
    .first('session_ref');
  return found!.session_ref;
}

/** Locks the row until the transaction ends. */
export async function lockCheckoutForUpdate(
  trx: Knex.Transaction,
  sessionRef: string,
): Promise<CheckoutRow | undefined> {
  return trx<CheckoutRow>('test_checkouts').where({ session_ref: sessionRef }).forUpdate().first();
}

export async function updateCheckout(
  trx: Knex.Transaction,
  sessionRef: string,
  changes: Changes,
): Promise<CheckoutRow> {
  const [row] = await trx<CheckoutRow & { fault: string | null }>('test_checkouts')
    .where({ session_ref: sessionRef })
    .update({ ...changes, fault: null })
    .returning('*');
  return row!;
}

/** Deletes checkouts that ended without a payment and expired before a time. @returns how many */
export async function deleteUnpaid(
  trx: Knex.Transaction,
  expiredBefore: Date,
  limit: number,
): Promise<number> {
  const unpaid = trx<CheckoutRow>('test_checkouts')
    .select('session_ref')
    .whereIn('state', ['failed', 'expired'])
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  return trx<CheckoutRow>('test_checkouts').whereIn('session_ref', unpaid).delete();
}
