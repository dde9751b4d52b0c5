import type { Knex } from 'knex';

/** One statement for each application: counting takes no lock, and an interrupted migration can be repeated. */
export const config = { transaction: false };

const APPLICATIONS_AT_ONCE = 500;

/**
 * Records the sessions from before the triggers, as the difference between what an application has and what is already
 * counted. A statement sees all of a transaction, its sessions and their changes, or none of it, so the difference is
 * the same while sessions begin and end.
 */
const COUNT = `
insert into session_count_changes (app_id, expires_minute, change)
select ?, expires_minute, sum(count) from (
  select date_bin('1 minute', expires_at, 'epoch') as expires_minute, count(*) from sessions
  where app_id = ? and ended_at is null group by 1
  union all select expires_minute, -count from session_counts where app_id = ?
  union all select expires_minute, -change from session_count_changes where app_id = ?) differences
group by expires_minute having sum(count) <> 0`;

export async function up(knex: Knex): Promise<void> {
  for (let last = ''; ;) {
    const { rows } = await knex.raw<{ rows: { app_id: string }[] }>(
      'select app_id from applications where app_id > ? order by app_id limit ?',
      [last, APPLICATIONS_AT_ONCE],
    );
    for (const { app_id } of rows) await knex.raw(COUNT, [app_id, app_id, app_id, app_id]);
    if (rows.length < APPLICATIONS_AT_ONCE) return;
    last = rows.at(-1)!.app_id;
  }
}

export async function down(): Promise<void> {
  // The tables go with the migration before.
}
