import type { Knex } from 'knex';

/** Developers sign in meanwhile. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // A build that was broken off leaves an index that is good for nothing.
  await knex.raw('drop index concurrently if exists developer_sessions_developer');
  await knex.raw(
    'create index concurrently developer_sessions_developer on developer_sessions (developer_id)',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists developer_sessions_developer');
}
