import type { Knex } from 'knex';

export type CheckoutStatus = 'open' | 'processing' | 'paid' | 'failed' | 'expired';

export interface CheckoutRow {
  readonly checkout_id: string;
  readonly developer_id: string;
  readonly plan_id: string;
  readonly reseller_id: string | null;
  readonly processor: string;
  readonly session_ref: string | null;
  readonly url: string | null;
  readonly status: CheckoutStatus;
  readonly amount_minor: number;
  readonly currency: string;
  readonly units: number | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly paid_at: Date | null;
  readonly looked_up_at: Date;
}

export async function insertCheckout(trx: Knex.Transaction, row: CheckoutRow): Promise<void> {
  await trx('checkouts').insert(row);
}

export async function findCheckout(db: Knex, checkoutId: string): Promise<CheckoutRow | undefined> {
  return db<CheckoutRow>('checkouts').where({ checkout_id: checkoutId }).first();
}

export async function updateCheckout(
  db: Knex,
  checkoutId: string,
  changes: Partial<CheckoutRow>,
): Promise<void> {
  await db('checkouts').where({ checkout_id: checkoutId }).update(changes);
}

/** Unfinished checkouts without an event or a lookup since a time, the least recently looked up first. */
export async function listSilentCheckouts(
  db: Knex,
  lookedUpBefore: Date,
  limit: number,
): Promise<CheckoutRow[]> {
  return db<CheckoutRow>('checkouts')
    .whereIn('status', ['open', 'processing'])
    .where('looked_up_at', '<', lookedUpBefore)
    .orderBy('looked_up_at')
    .limit(limit);
}
