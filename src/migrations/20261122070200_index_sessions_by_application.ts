import type { Knex } from 'knex';

/** Sessions are written while it is built, which takes longer than they could wait. */
export const config = { transaction: false };

/** Counts the live sessions of one application. */
export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists sessions_app');
  await knex.raw('create index concurrently sessions_app on sessions (app_id, expires_at)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently sessions_app');
}
