import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { findReseller, lockResellerForUpdate, type ResellerRow } from './reseller-store.ts';

/** The reseller that a token belongs to. @throws ApiError UNAUTHORIZED when the reseller was deleted */
export async function findTokenOwner(db: Knex, resellerId: string): Promise<ResellerRow> {
  return existing(await findReseller(db, resellerId));
}

/** @throws ApiError UNAUTHORIZED, RESELLER_SUSPENDED */
export async function findActiveOwner(db: Knex, resellerId: string): Promise<ResellerRow> {
  return active(await findTokenOwner(db, resellerId));
}

/** @throws ApiError UNAUTHORIZED, RESELLER_SUSPENDED */
export async function lockActiveOwnerForUpdate(
  trx: Knex.Transaction,
  resellerId: string,
): Promise<ResellerRow> {
  return active(existing(await lockResellerForUpdate(trx, resellerId)));
}

function existing(row: ResellerRow | undefined): ResellerRow {
  if (!row) throw new ApiError('UNAUTHORIZED');
  return row;
}

function active(row: ResellerRow): ResellerRow {
  if (row.suspended_at !== null) throw new ApiError('RESELLER_SUSPENDED');
  return row;
}
