import type { Knex } from 'knex';
import type { Count } from './statistics-state.ts';

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

/** Every count of an application since a day. */
export async function readCounts(trx: Knex.Transaction, appId: string, from: string): Promise<Count[]> {
  return trx('daily_statistics')
    .where({ app_id: appId })
    .where('day', '>=', from)
    .select<Count[]>('app_id', trx.raw('day::text as day'), 'metric', 'dimension', 'value', 'count');
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
