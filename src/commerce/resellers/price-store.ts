import type { Knex } from 'knex';

export interface PriceRow {
  readonly reseller_id: string;
  readonly app_id: string;
  readonly tier: string;
  /** Null is a lifetime. */
  readonly duration_days: number | null;
  readonly price_minor: number;
}

/** The kind of key that a price is for. */
export type PriceKey = Pick<PriceRow, 'app_id' | 'tier' | 'duration_days'>;

/** All prices of a reseller, in any order. */
export async function listPrices(db: Knex, resellerId: string): Promise<PriceRow[]> {
  return db<PriceRow>('reseller_prices').where({ reseller_id: resellerId });
}

export async function findPrice(db: Knex, resellerId: string, key: PriceKey): Promise<PriceRow | undefined> {
  return db<PriceRow>('reseller_prices')
    .where({ reseller_id: resellerId, app_id: key.app_id, tier: key.tier })
    .whereRaw('duration_days is not distinct from ?::integer', [key.duration_days as number])
    .first();
}

/** Replaces the price list. The caller has locked the reseller. */
export async function replacePrices(
  trx: Knex.Transaction,
  resellerId: string,
  rows: readonly PriceRow[],
): Promise<void> {
  await trx('reseller_prices').where({ reseller_id: resellerId }).delete();
  if (rows.length > 0) await trx('reseller_prices').insert([...rows]);
}
