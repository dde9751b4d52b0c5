import type { Knex } from 'knex';

/**
 * How many sessions of each of many applications are live at a time. Sessions that expire in a later minute are counted
 * already; only those that expire in this minute are looked at.
 */
export async function countLiveSessionsOfApplications(
  db: Knex,
  appIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.raw<{ rows: { app_id: string; live: number }[] }>(
    `with this as (select date_bin('1 minute', :now::timestamptz, 'epoch') + interval '1 minute' as ends)
     select a.app_id, (
       coalesce((select sum(count) from session_counts c
                 where c.app_id = a.app_id and c.expires_minute >= this.ends), 0)
       + coalesce((select sum(change) from session_count_changes c
                   where c.app_id = a.app_id and c.expires_minute >= this.ends), 0)
       + (select count(*) from sessions s
          where s.app_id = a.app_id and s.ended_at is null and s.expires_at > :now and s.expires_at < this.ends)
       )::integer as live
     from unnest(:appIds::text[]) a (app_id), this`,
    { appIds: [...appIds], now },
  );
  return new Map(rows.map((row) => [row.app_id, row.live]));
}

/**
 * Adds a batch of changes to the counts, inside the caller's transaction. Another node skips the same changes.
 * @returns how many
 */
export async function foldChanges(trx: Knex.Transaction, limit: number): Promise<number> {
  const { rows } = await trx.raw<{ rows: { changes: number }[] }>(
    `with taken as (
       delete from session_count_changes where ctid = any (array(
         select ctid from session_count_changes order by app_id, expires_minute limit ? for update skip locked))
       returning app_id, expires_minute, change
     ), folded as (
       insert into session_counts as c (app_id, expires_minute, count)
       select app_id, expires_minute, sum(change) from taken group by 1, 2 having sum(change) <> 0 order by 1, 2
       on conflict (app_id, expires_minute) do update set count = c.count + excluded.count
     )
     select count(*) as changes from taken`,
    [limit],
  );
  return rows[0]!.changes;
}

/** Deletes the counts of minutes before a time, in which all sessions have expired. @returns how many */
export async function clearCounts(db: Knex, before: Date, limit: number): Promise<number> {
  const past = db('session_counts').where('expires_minute', '<', before).limit(limit);
  return db('session_counts')
    .whereIn(['app_id', 'expires_minute'], past.select('app_id', 'expires_minute'))
    .delete();
}
