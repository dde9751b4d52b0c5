import type { Knex } from 'knex';
import type { LicenseRow, LicenseStatus } from './license-state.ts';

export interface ResellerLicenseFilter {
  readonly status?: LicenseStatus | undefined;
  readonly appId?: string | undefined;
}

/** Those that a reseller has generated, of applications that still are; newest first, ids sort by time of creation. */
export async function listLicensesOfReseller(
  db: Knex,
  resellerId: string,
  { status, appId }: ResellerLicenseFilter,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<LicenseRow[]> {
  const query = db('licenses as l')
    .join('applications as a', 'a.app_id', 'l.app_id')
    .where('l.reseller_id', resellerId)
    .whereNull('a.deleted_at')
    .orderBy('l.license_id', 'desc')
    .limit(page.limit)
    .select<LicenseRow[]>('l.*');
  if (status !== undefined) void query.where('l.status', status);
  if (appId !== undefined) void query.where('l.app_id', appId);
  if (page.before !== undefined) void query.where('l.license_id', '<', page.before);
  return query;
}

/** Reads a licence of a reseller and holds its row until the transaction ends: a redemption comes before or after it. */
export async function lockLicenseOfReseller(
  trx: Knex.Transaction,
  resellerId: string,
  licenseId: string,
): Promise<LicenseRow | undefined> {
  return trx<LicenseRow>('licenses')
    .where({ license_id: licenseId, reseller_id: resellerId })
    .forUpdate()
    .first();
}

export async function deleteLicense(trx: Knex.Transaction, licenseId: string): Promise<void> {
  await trx('licenses').where({ license_id: licenseId }).delete();
}
