import type { Knex } from 'knex';
import type { LicenseStatus } from './license-state.ts';

/** A selection of an application's licenses: some ids, all, or all of one tier. */
export interface Selection {
  readonly appId: string;
  readonly licenseIds?: readonly string[] | undefined;
  readonly tier?: string | undefined;
}

/** A holder of redeemed licenses of one tier. */
export interface RedeemedTier {
  readonly user_id: string;
  readonly tier: string;
  /** The number of these licenses. */
  readonly licenses: number;
}

function selected(db: Knex, { appId, licenseIds, tier }: Selection): Knex.QueryBuilder {
  const query = db('licenses').where({ app_id: appId });
  if (licenseIds) query.whereRaw('license_id = any(?::text[])', [licenseIds as string[]]);
  if (tier !== undefined) query.where({ tier });
  return query;
}

/** A page of the holders of redeemed licenses that are not banned, ordered by id. */
export async function findHolders(
  trx: Knex.Transaction,
  selection: Selection,
  after: string,
  limit: number,
): Promise<string[]> {
  return selected(trx, selection)
    .where('redeemed_by', '>', after)
    .whereNot({ status: 'banned' })
    .distinct('redeemed_by')
    .orderBy('redeemed_by')
    .limit(limit)
    .pluck('redeemed_by');
}

/** The licenses of the selection that some users hold. */
export async function findRedeemedTiers(
  trx: Knex.Transaction,
  selection: Selection,
  userIds: readonly string[],
): Promise<RedeemedTier[]> {
  return selected(trx, selection)
    .whereRaw('redeemed_by = any(?::text[])', [userIds as string[]])
    .whereNot({ status: 'banned' })
    .groupBy('redeemed_by', 'tier')
    .orderBy([{ column: 'redeemed_by' }, { column: 'tier' }])
    .select<RedeemedTier[]>(
      { user_id: 'redeemed_by', tier: 'tier' },
      trx.raw('count(*)::integer as licenses'),
    );
}

/** The columns of a license that an extension needs. */
export interface SelectedRow {
  readonly license_id: string;
  readonly status: LicenseStatus;
  /** Null until it is redeemed. */
  readonly redeemed_at: Date | null;
  readonly redeemed_by: string | null;
}

/** A page of a selection, ordered by id. */
export async function findSelected(
  trx: Knex.Transaction,
  selection: Selection,
  after: string,
  limit: number,
): Promise<SelectedRow[]> {
  return selected(trx, selection)
    .where('license_id', '>', after)
    .orderBy('license_id')
    .limit(limit)
    .select('license_id', 'status', 'redeemed_at', 'redeemed_by');
}

/**
 * Extends unredeemed keys, and locks their rows until the transaction ends. Lifetimes, and keys that would exceed the
 * maximum, stay unchanged.
 * @returns the ids of the extended keys
 */
export async function extendDurations(
  trx: Knex.Transaction,
  licenseIds: readonly string[],
  days: number,
  mostDays: number,
): Promise<Set<string>> {
  const { rows } = await trx.raw<{ rows: { license_id: string }[] }>(
    // Locked in a fixed order, so that two of these statements cannot deadlock.
    `with held as (
       select license_id from licenses
       where license_id = any(?::text[]) and status in ('unused', 'paused') and redeemed_at is null
       order by license_id for no key update
     )
     update licenses l set duration_days = l.duration_days + ?::integer from held
     where l.license_id = held.license_id and l.duration_days + ?::integer <= ?::integer
     returning l.license_id`,
    [licenseIds, days, days, mostDays] as Knex.RawBinding[],
  );
  return new Set(rows.map((row) => row.license_id));
}

export async function countLicenses(trx: Knex.Transaction, selection: Selection): Promise<number> {
  const [row] = await selected(trx, selection).count<{ count: number }[]>({ count: '*' });
  return row!.count;
}

/**
 * Deletes the keys among the next ones of a status that the developer has generated, not a reseller.
 * @param limit how many keys are read, including those of resellers
 * @returns how many were deleted, and the last id that was read; undefined at the end
 */
export async function deleteNext(
  trx: Knex.Transaction,
  { appId, status, tier }: { appId: string; status: LicenseStatus; tier: string | undefined },
  after: string,
  limit: number,
): Promise<{ readonly deleted: number; readonly last: string | undefined }> {
  // Keys of resellers count as read; otherwise one statement could scan any number of them.
  const rows = await selected(trx, { appId, tier })
    .where({ status })
    .where('license_id', '>', after)
    .orderBy('license_id')
    .limit(limit)
    .select<{ license_id: string; reseller_id: string | null }[]>('license_id', 'reseller_id');
  const licenseIds = rows.filter((row) => row.reseller_id === null).map((row) => row.license_id);
  // One may have been redeemed in the meantime.
  const deleted =
    licenseIds.length === 0 ? 0 : await selected(trx, { appId, licenseIds }).where({ status }).delete();
  return { deleted, last: rows.at(-1)?.license_id };
}
