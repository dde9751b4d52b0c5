import type { Knex } from 'knex';
import type { LicenseStatus } from './license-state.ts';

export interface LicenseCountRow {
  readonly app_id: string;
  readonly tier: string;
  readonly status: LicenseStatus;
  readonly count: number;
}

/** The licenses of some applications: what is folded, and the changes that are not, in one snapshot. */
export async function readLicenseCounts(db: Knex, appIds: readonly string[]): Promise<LicenseCountRow[]> {
  const { rows } = await db.raw<{ rows: LicenseCountRow[] }>(
    `select app_id, tier, status, sum(count)::bigint as count from (
       select app_id, tier, status, count from license_counts where app_id = any (:appIds::text[])
       union all
       select app_id, tier, status, change from license_count_changes where app_id = any (:appIds::text[])) counts
     group by app_id, tier, status having sum(count) <> 0`,
    { appIds: [...appIds] },
  );
  return rows;
}

/**
 * Adds a batch of changes to the counts, inside the caller's transaction. Another node skips the same changes.
 * @returns how many
 */
export async function foldChanges(trx: Knex.Transaction, limit: number): Promise<number> {
  const { rows } = await trx.raw<{ rows: { changes: number; emptied: string[] }[] }>(
    `with taken as (
       delete from license_count_changes where ctid = any (array(
         select ctid from license_count_changes order by app_id limit ? for update skip locked))
       returning app_id, tier, status, change
     ), folded as (
       insert into license_counts as c (app_id, tier, status, count)
       select app_id, tier, status, sum(change) from taken group by 1, 2, 3 having sum(change) <> 0 order by 1, 2, 3
       on conflict (app_id, tier, status) do update set count = c.count + excluded.count
       returning app_id, count
     )
     select (select count(*) from taken) as changes,
       coalesce((select array_agg(distinct app_id) from folded where count = 0), '{}') as emptied`,
    [limit],
  );
  const { changes, emptied } = rows[0]!;
  if (emptied.length > 0) {
    await trx('license_counts').whereRaw('app_id = any(?::text[])', [emptied]).where({ count: 0 }).delete();
  }
  return changes;
}
