import type { Knex } from 'knex';

/** Users register meanwhile. */
export const config = { transaction: false };

/** Users from before the column count by their keys, which are unique: the index cannot fail on them. */
export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists users_username_look');
  await knex.raw(
    'create unique index concurrently users_username_look on users (app_id, coalesce(username_look, username_key))',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists users_username_look');
}
