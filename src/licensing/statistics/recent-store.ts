import type { Knex } from 'knex';
import type { ActiveUser, Count, HourlyCount } from './statistics-state.ts';

/**
 * Adds to counters of hours, and records who logged in, in one statement.
 * @returns how many of the users had not logged in before on that day
 */
export async function addRecent(
  trx: Knex.Transaction,
  hours: readonly HourlyCount[],
  users: readonly ActiveUser[],
): Promise<readonly Count[]> {
  if (hours.length + users.length === 0) return [];
  const { rows } = await trx.raw<{ rows: Count[] }>(
    `with counted as (
       insert into hourly_statistics (app_id, hour, metric, count)
       select * from jsonb_to_recordset(?::jsonb) as i (app_id text, hour timestamptz, metric text, count bigint)
       order by app_id, hour, metric
       on conflict (app_id, hour, metric) do update set count = hourly_statistics.count + excluded.count
     ), added as (
       insert into active_users (day, app_id, user_id)
       select day, app_id, user_id from jsonb_to_recordset(?::jsonb) as i (app_id text, day date, user_id text)
       order by day, app_id, user_id
       on conflict do nothing returning day, app_id
     )
     select app_id, day::text as day, 'active_users' as metric, 'total' as dimension, '' as value,
       count(*)::integer as count
     from added group by app_id, day`,
    [JSON.stringify(hours), JSON.stringify(users)],
  );
  return rows;
}

/** The counts of an application by hour, from one hour to before another. */
export async function readHours(
  trx: Knex.Transaction,
  appId: string,
  from: Date,
  until: Date,
): Promise<HourlyCount[]> {
  return trx('hourly_statistics')
    .where({ app_id: appId })
    .where('hour', '>=', from)
    .where('hour', '<', until)
    .select<HourlyCount[]>('app_id', 'hour', 'metric', 'count');
}

/** Deletes a batch of counts of hours before a time. @returns how many */
export async function clearHours(db: Knex, before: Date, limit: number): Promise<number> {
  return countOf(
    db.raw(
      `delete from hourly_statistics where ctid = any (array(
         select ctid from hourly_statistics where hour < ? order by hour limit ?))`,
      [before, limit],
    ),
  );
}

/** Deletes a batch of counts of an application by hour. @returns how many */
export async function clearHoursOf(db: Knex, appId: string, limit: number): Promise<number> {
  return countOf(
    db.raw(
      `delete from hourly_statistics where ctid = any (array(
         select ctid from hourly_statistics where app_id = ? limit ?))`,
      [appId, limit],
    ),
  );
}

/** Deletes a batch of the users who logged in before a day. @returns how many */
export async function clearActiveUsers(db: Knex, before: string, limit: number): Promise<number> {
  return countOf(
    db.raw(
      `delete from active_users where ctid = any (array(
         select ctid from active_users where day < ?::date order by day limit ?))`,
      [before, limit],
    ),
  );
}

/** Deletes a batch of the users of an application who logged in on some days. @returns how many */
export async function clearActiveUsersOf(
  db: Knex,
  appId: string,
  days: readonly string[],
  limit: number,
): Promise<number> {
  return countOf(
    db.raw(
      `delete from active_users where ctid = any (array(
         select ctid from active_users where day = any (?::date[]) and app_id = ? limit ?))`,
      [[...days], appId, limit],
    ),
  );
}

async function countOf(deletion: PromiseLike<unknown>): Promise<number> {
  return ((await deletion) as { readonly rowCount: number }).rowCount;
}
