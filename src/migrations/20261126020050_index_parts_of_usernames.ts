import type { Knex } from 'knex';

/** Users register meanwhile. */
export const config = { transaction: false };

/** Finds users by a part of the name, where the server has `pg_trgm`. */
export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `select from pg_opclass where opcname = 'gin_trgm_ops'`,
  );
  if (rows.length === 0) return;
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists users_username_parts');
  await knex.raw(
    'create index concurrently users_username_parts on users using gin (username_key gin_trgm_ops)',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists users_username_parts');
}
