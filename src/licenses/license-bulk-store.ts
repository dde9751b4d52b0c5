import type { Knex } from 'knex';
import type { LicenseStatus } from './license-state.ts';

/** Which licences of an application: those of some ids, or all, or all of one tier. */
export interface Selection {
  readonly appId: string;
  readonly licenseIds?: readonly string[] | undefined;
  readonly tier?: string | undefined;
}

/** A holder of redeemed licences, and the tier of some of them. */
export interface HeldTier {
  readonly user_id: string;
  readonly tier: string;
  /** How many licences that is. */
  readonly licenses: number;
}

function selected(db: Knex, { appId, licenseIds, tier }: Selection): Knex.QueryBuilder {
  const query = db('licenses').where({ app_id: appId });
  if (licenseIds) query.whereRaw('license_id = any(?::text[])', [licenseIds as string[]]);
  if (tier !== undefined) query.where({ tier });
  return query;
}

/** Of redeemed licences that are not banned: a page of their holders, in the order of ids. */
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

/** What some users hold of the selection. */
export async function findHeldTiers(
  trx: Knex.Transaction,
  selection: Selection,
  userIds: readonly string[],
): Promise<HeldTier[]> {
  return selected(trx, selection)
    .whereRaw('redeemed_by = any(?::text[])', [userIds as string[]])
    .whereNot({ status: 'banned' })
    .groupBy('redeemed_by', 'tier')
    .orderBy([{ column: 'redeemed_by' }, { column: 'tier' }])
    .select<HeldTier[]>({ user_id: 'redeemed_by', tier: 'tier' }, trx.raw('count(*)::integer as licenses'));
}

/** A licence of a selection, as far as an extension has to know it. */
export interface SelectedRow {
  readonly license_id: string;
  readonly status: LicenseStatus;
  /** Null until somebody has redeemed it. */
  readonly redeemed_at: Date | null;
  readonly redeemed_by: string | null;
}

/** A page of a selection, in the order of ids. */
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
 * Makes keys last longer that nobody has redeemed, and holds their rows until the transaction ends. Lifetimes stay, and keys
 * that would get more days than allowed.
 * @returns ids of those that got them
 */
export async function extendDurations(
  trx: Knex.Transaction,
  licenseIds: readonly string[],
  days: number,
  mostDays: number,
): Promise<Set<string>> {
  const { rows } = await trx.raw<{ rows: { license_id: string }[] }>(
    // Locked in one order, so that two of these never wait for each other.
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
 * Deletes those of the next keys of a status that the developer has generated himself.
 * @param limit how many are looked at, whoever generated them
 * @returns how many, and the last id that was looked at; undefined at the end
 */
export async function deleteNext(
  trx: Knex.Transaction,
  { appId, status, tier }: { appId: string; status: LicenseStatus; tier: string | undefined },
  after: string,
  limit: number,
): Promise<{ readonly deleted: number; readonly last: string | undefined }> {
  // Those of resellers are read as well: else one statement would look through any number of them for its next key.
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
