import type { Knex } from 'knex';
import type { LicenseRow, LicenseStatus } from './license-state.ts';

export interface ResellerLicenseFilter {
  readonly status?: LicenseStatus | undefined;
  readonly appId?: string | undefined;
}

/** Licenses that a reseller has generated for some applications; newest first, ids sort by time of creation. */
export async function listLicensesOfReseller(
  db: Knex,
  resellerId: string,
  appIds: readonly string[],
  { status }: Pick<ResellerLicenseFilter, 'status'>,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<LicenseRow[]> {
  const query = db<LicenseRow>('licenses')
    .where({ reseller_id: resellerId })
    .whereRaw('app_id = any(?::text[])', [[...appIds]])
    .orderBy('license_id', 'desc')
    .limit(page.limit);
  if (status !== undefined) void query.where({ status });
  return page.before === undefined ? query : query.where('license_id', '<', page.before);
}

/**
 * Reads a license of a reseller and locks its row until the transaction ends, so that redemptions run before or after.
 */
export async function lockLicenseOfResellerForUpdate(
  trx: Knex.Transaction,
  resellerId: string,
  licenseId: string,
): Promise<LicenseRow | undefined> {
  return trx<LicenseRow>('licenses')
    .where({ license_id: licenseId, reseller_id: resellerId })
    .forUpdate()
    .first();
}

/** A license that a reseller has generated. */
export async function findLicenseOfReseller(
  db: Knex,
  resellerId: string,
  licenseId: string,
): Promise<LicenseRow | undefined> {
  return db<LicenseRow>('licenses').where({ license_id: licenseId, reseller_id: resellerId }).first();
}

const NEXT_HOLDER = `select redeemed_by from licenses
  where reseller_id = :resellerId and redeemed_by is not null and app_id = any(:appIds::text[])`;

/**
 * The users below one id, in descending order, who have redeemed a license that a reseller has generated for one of
 * some applications. It steps from user to user by the index, because sorting all users of a large reseller would
 * exceed the statement timeout.
 */
export async function listHoldersOfReseller(
  db: Knex,
  resellerId: string,
  appIds: readonly string[],
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { user_id: string }[] }>(
    `with recursive found (user_id, place) as (
       (select redeemed_by, 1 from (${NEXT_HOLDER} and redeemed_by < :from order by redeemed_by desc limit 1) as first)
       union all
       (select following.redeemed_by, found.place + 1 from found, lateral (
          ${NEXT_HOLDER} and redeemed_by < found.user_id order by redeemed_by desc limit 1) as following
        where found.place < :limit)
     )
     select user_id from found order by user_id desc`,
    // No id is above it.
    { resellerId, appIds: [...appIds], from: before ?? '~', limit },
  );
  return rows.map(({ user_id }) => user_id);
}

/** The application of a user who has redeemed a license of a reseller. */
export async function findAppOfHolder(
  db: Knex,
  resellerId: string,
  userId: string,
): Promise<string | undefined> {
  const row = await db<LicenseRow>('licenses')
    .where({ reseller_id: resellerId, redeemed_by: userId })
    .first('app_id');
  return row?.app_id;
}

export async function deleteLicense(trx: Knex.Transaction, licenseId: string): Promise<void> {
  await trx('licenses').where({ license_id: licenseId }).delete();
}
