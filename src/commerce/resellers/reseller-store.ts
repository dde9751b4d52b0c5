import type { Knex } from 'knex';

export interface ResellerRow {
  readonly reseller_id: string;
  readonly developer_id: string;
  readonly name: string;
  readonly currency: string;
  readonly balance_minor: number;
  readonly owed_minor: number;
  readonly waiting_minor: number;
  readonly margin_basis_points: number;
  readonly suspended_at: Date | null;
  readonly created_at: Date;
  readonly deleted_at: Date | null;
}

export async function insertReseller(trx: Knex.Transaction, row: ResellerRow): Promise<void> {
  await trx('resellers').insert(row);
}

export async function findReseller(db: Knex, resellerId: string): Promise<ResellerRow | undefined> {
  return db<ResellerRow>('resellers').where({ reseller_id: resellerId }).whereNull('deleted_at').first();
}

/**
 * Locks a reseller until the transaction ends, so that changes of the reseller, and of the balance above all,
 * run one by one. Inserts that only refer to the row do not wait.
 */
export async function lockResellerForUpdate(
  trx: Knex.Transaction,
  resellerId: string,
): Promise<ResellerRow | undefined> {
  return trx<ResellerRow>('resellers')
    .where({ reseller_id: resellerId })
    .whereNull('deleted_at')
    .forNoKeyUpdate()
    .first();
}

/** Like lockResellerForUpdate, deleted resellers included. */
export async function lockAnyResellerForUpdate(
  trx: Knex.Transaction,
  resellerId: string,
): Promise<ResellerRow | undefined> {
  return trx<ResellerRow>('resellers').where({ reseller_id: resellerId }).forNoKeyUpdate().first();
}

/** Newest first; ids sort by time of creation. */
export async function listResellers(
  db: Knex,
  developerId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ResellerRow[]> {
  const query = db<ResellerRow>('resellers')
    .where({ developer_id: developerId })
    .whereNull('deleted_at')
    .orderBy('reseller_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('reseller_id', '<', page.before);
}

export async function updateReseller(
  trx: Knex.Transaction,
  resellerId: string,
  changes: Partial<Pick<ResellerRow, 'name' | 'margin_basis_points' | 'suspended_at' | 'deleted_at'>>,
): Promise<void> {
  await trx('resellers').where({ reseller_id: resellerId }).update(changes);
}
