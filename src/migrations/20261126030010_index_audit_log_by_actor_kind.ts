import type { Knex } from 'knex';

/** Entries are written meanwhile. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // An index build that was interrupted leaves an index that is not valid.
  await knex.raw('drop index concurrently if exists audit_log_actor_kind');
  await knex.raw(
    'create index concurrently audit_log_actor_kind on audit_log (developer_id, actor_kind, audit_id)',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists audit_log_actor_kind');
}
