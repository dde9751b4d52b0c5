import type { Knex } from 'knex';

/** One statement for each application: counting takes no lock, and an interrupted migration can be repeated. */
export const config = { transaction: false };

const APPLICATIONS_AT_ONCE = 500;

/**
 * Records the licenses from before the triggers, as the difference between what an application has and what is already
 * counted. A statement sees all of a transaction, its licenses and their changes, or none of it, so the difference is
 * the same while licenses are written.
 */
const COUNT = `
insert into license_count_changes (app_id, tier, status, change)
select ?, tier, status, sum(count) from (
  select tier, status, count(*) from licenses where app_id = ? group by tier, status
  union all select tier, status, -count from license_counts where app_id = ?
  union all select tier, status, -change from license_count_changes where app_id = ?) differences
group by tier, status having sum(count) <> 0`;

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
