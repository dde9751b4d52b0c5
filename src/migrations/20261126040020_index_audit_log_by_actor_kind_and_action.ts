import type { Knex } from 'knex';

/** Audit entries are written while it is built. */
export const config = { transaction: false };

/** The newest entries of one action by one kind of actor, which may be rare among those of the action. */
export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists audit_log_actor_kind_action');
  await knex.raw(
    `create index concurrently audit_log_actor_kind_action
     on audit_log (developer_id, actor_kind, action, audit_id)`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists audit_log_actor_kind_action');
}
