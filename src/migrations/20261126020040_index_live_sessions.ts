import type { Knex } from 'knex';

/** Sessions are written while it is built. */
export const config = { transaction: false };

/** The live sessions of one application in the order of their list. It replaces the index that counted them. */
export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists sessions_live');
  await knex.raw(
    `create index concurrently sessions_live on sessions (app_id, expires_at, session_digest)
     where ended_at is null`,
  );
  await knex.raw('drop index concurrently if exists sessions_app');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('create index concurrently if not exists sessions_app on sessions (app_id, expires_at)');
  await knex.raw('drop index concurrently if exists sessions_live');
}
