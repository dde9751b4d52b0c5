import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { findReseller, lockResellerForUpdate, type ResellerRow } from './reseller-store.ts';

/** @throws ApiError RESELLER_NOT_FOUND, also for a reseller of another developer */
export async function findOwned(db: Knex, developerId: string, resellerId: string): Promise<ResellerRow> {
  return owned(await findReseller(db, resellerId), developerId);
}

/**
 * Checks the owner before locking, so that no request waits for another developer's reseller.
 * @throws ApiError RESELLER_NOT_FOUND
 */
export async function lockOwnedForUpdate(
  trx: Knex.Transaction,
  developerId: string,
  resellerId: string,
): Promise<ResellerRow> {
  await findOwned(trx, developerId, resellerId);
  return owned(await lockResellerForUpdate(trx, resellerId), developerId);
}

function owned(row: ResellerRow | undefined, developerId: string): ResellerRow {
  if (row?.developer_id !== developerId) throw new ApiError('RESELLER_NOT_FOUND');
  return row;
}
