import type { Knex } from 'knex';

/** Developers sign in meanwhile. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists developer_sessions_listed');
  await knex.raw(
    'create index concurrently developer_sessions_listed on developer_sessions (developer_id, developer_session_id)',
  );
  // The new index begins with the same column.
  await knex.raw('drop index concurrently if exists developer_sessions_developer');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'create index concurrently if not exists developer_sessions_developer on developer_sessions (developer_id)',
  );
  await knex.raw('drop index concurrently if exists developer_sessions_listed');
}
