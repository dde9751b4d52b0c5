import type { Knex } from 'knex';
import type { Count, Metric } from './statistics-state.ts';

/** Adds to counters in one statement, except for applications whose row is deleted. */
export async function addCounts(trx: Knex.Transaction, counts: readonly Count[]): Promise<void> {
  if (counts.length === 0) return;
  await trx.raw(
    `insert into daily_statistics (app_id, day, metric, dimension, value, count)
     select i.app_id, i.day, i.metric, i.dimension, i.value, i.count
     from jsonb_to_recordset(?::jsonb)
       as i (app_id text, day date, metric text, dimension text, value text, count bigint)
     join applications using (app_id)
     order by i.app_id, i.day, i.metric, i.dimension, i.value
     on conflict (app_id, day, metric, dimension, value)
       do update set count = daily_statistics.count + excluded.count`,
    [JSON.stringify(counts)],
  );
}

/** How many versions an application has on a day, and which of the given ones. */
export interface KnownVersions {
  readonly app_id: string;
  readonly day: string;
  readonly versions: number;
  readonly known: string[];
}

export async function findVersions(
  trx: Knex.Transaction,
  counters: readonly Pick<Count, 'app_id' | 'day' | 'value'>[],
): Promise<KnownVersions[]> {
  const { rows } = await trx.raw<{ rows: KnownVersions[] }>(
    `with wanted as (select * from jsonb_to_recordset(?::jsonb) as i (app_id text, day date, value text))
     select s.app_id, s.day::text as day, count(*)::int as versions,
       coalesce(array_agg(s.value) filter (where exists (
         select from wanted w where w.app_id = s.app_id and w.day = s.day and w.value = s.value)), '{}') as known
     from daily_statistics s
     where (s.app_id, s.day) in (select app_id, day from wanted)
       and s.metric = 'logins' and s.dimension = 'version'
     group by s.app_id, s.day`,
    [JSON.stringify(counters.map(({ app_id, day, value }) => ({ app_id, day, value })))],
  );
  return rows;
}

/** Every count of an application in a range of days, and those of its users since then. */
export async function readCounts(
  trx: Knex.Transaction,
  appId: string,
  from: string,
  to: string,
): Promise<Count[]> {
  return trx('daily_statistics')
    .where({ app_id: appId })
    .where('day', '>=', from)
    .whereRaw(`(day <= ? or metric in ('users_new', 'users_deleted'))`, [to])
    .select<Count[]>('app_id', trx.raw('day::text as day'), 'metric', 'dimension', 'value', 'count');
}

/**
 * The totals of some days of some applications: each is found by its key, so that those by tier and version cost
 * nothing.
 */
export async function readTotals(
  trx: Knex.Transaction,
  appIds: readonly string[],
  days: readonly string[],
  metrics: readonly Metric[],
): Promise<Count[]> {
  const { rows } = await trx.raw<{ rows: Count[] }>(
    `select a.app_id, d.day::text as day, m.metric, 'total' as dimension, '' as value, s.count
     from unnest(?::text[]) a (app_id), unnest(?::date[]) d (day), unnest(?::text[]) m (metric),
       lateral (select count from daily_statistics s where s.app_id = a.app_id and s.day = d.day
         and s.metric = m.metric and s.dimension = 'total' and s.value = '' limit 1) s`,
    [[...appIds], [...days], [...metrics]],
  );
  return rows;
}

/** Whether a login to one of some applications was ever counted. */
export async function hasLogin(trx: Knex.Transaction, appIds: readonly string[]): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { found: boolean }[] }>(
    `select exists (select from unnest(?::text[]) a (app_id), lateral (
       select from daily_statistics s where s.app_id = a.app_id and s.metric = 'logins' limit 1) s) as found`,
    [[...appIds]],
  );
  return rows[0]!.found;
}

/** Deletes a batch of counts of an application. @returns how many */
export async function clearCounts(db: Knex, appId: string, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from daily_statistics where ctid = any (array(
       select ctid from daily_statistics where app_id = ? limit ?))`,
    [appId, limit],
  );
  return rowCount;
}
