import type { Knex } from 'knex';

/** A lookup in a hash index costs the same in any number of sessions, and half of one in a tree of digests. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table sessions
  drop constraint sessions_token_digest,
  add constraint sessions_token_digest exclude using hash (token_digest with =)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table sessions
  drop constraint sessions_token_digest,
  add constraint sessions_token_digest unique (token_digest)`);
}
