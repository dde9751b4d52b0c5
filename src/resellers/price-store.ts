import type { Knex } from 'knex';

export interface PriceRow {
  readonly reseller_id: string;
  readonly app_id: string;
  readonly tier: string;
  /** Null is a lifetime. */
  readonly duration_days: number | null;
  readonly price_minor: number;
}

export interface NamedPriceRow extends PriceRow {
  readonly app_name: string;
}

/** What a price is for. */
export type PriceKey = Pick<PriceRow, 'app_id' | 'tier' | 'duration_days'>;

/** Prices that can be used: of applications that still are the developer's, and tiers that they still have. */
function usablePrices(db: Knex, resellerId: string) {
  return db('reseller_prices as p')
    .join('applications as a', 'a.app_id', 'p.app_id')
    .join('resellers as r', 'r.reseller_id', 'p.reseller_id')
    .where('p.reseller_id', resellerId)
    .whereRaw('a.developer_id = r.developer_id and a.deleted_at is null and p.tier = any(a.tiers)')
    .select<NamedPriceRow[]>('p.*', 'a.name as app_name');
}

/** By application, the oldest first, by the rank of the tier and by duration. */
export async function listPrices(db: Knex, resellerId: string): Promise<NamedPriceRow[]> {
  return usablePrices(db, resellerId).orderByRaw(
    'p.app_id, array_position(a.tiers, p.tier), p.duration_days nulls last',
  );
}

export async function findPrice(db: Knex, resellerId: string, key: PriceKey): Promise<PriceRow | undefined> {
  const [row] = await usablePrices(db, resellerId)
    .where({ 'p.app_id': key.app_id, 'p.tier': key.tier })
    .whereRaw('p.duration_days is not distinct from ?::integer', [key.duration_days as number]);
  return row;
}

/** Puts a list of prices in the place of the one before. The caller holds the reseller. */
export async function replacePrices(
  trx: Knex.Transaction,
  resellerId: string,
  rows: readonly PriceRow[],
): Promise<void> {
  await trx('reseller_prices').where({ reseller_id: resellerId }).delete();
  if (rows.length > 0) await trx('reseller_prices').insert([...rows]);
}

/** The tiers of those applications that are the developer's, by their ids. */
export async function findTiers(
  db: Knex,
  developerId: string,
  appIds: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const rows = await db('applications')
    .where({ developer_id: developerId })
    .whereNull('deleted_at')
    .whereRaw('app_id = any(?::text[])', [[...appIds]])
    .select<{ app_id: string; tiers: string[] }[]>('app_id', 'tiers');
  return new Map(rows.map(({ app_id, tiers }) => [app_id, tiers]));
}
