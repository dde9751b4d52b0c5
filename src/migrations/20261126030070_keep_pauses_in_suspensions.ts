import type { Knex } from 'knex';

/** The constraint is validated afterwards, concurrently with logins, which read the table. */
export const config = { transaction: false };

/** The pause of an application continues while it is disabled because its developer is suspended. */
const CHECK =
  "(status = 'paused') = (paused_at is not null) or status_before_suspension is not distinct from 'paused'";

export async function up(knex: Knex): Promise<void> {
  // With a short lock timeout: waiting for the table would block all later transactions.
  await knex.transaction((trx) =>
    trx.raw(`
set local lock_timeout = 500;
alter table applications drop constraint if exists applications_check,
  add constraint applications_check check (${CHECK}) not valid`),
  );
  await knex.raw('alter table applications validate constraint applications_check');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
update applications set paused_at = null where status <> 'paused' and paused_at is not null;
alter table applications drop constraint applications_check,
  add constraint applications_check check ((status = 'paused') = (paused_at is not null))`);
}
