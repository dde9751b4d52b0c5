import type { Knex } from 'knex';

/**
 * A lookup in a hash index costs the same in any number of sessions, and half of one in a tree of digests. It cannot be
 * unique, and need not: a token holds the id of its session, which is.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table sessions drop constraint sessions_token_digest;
create index sessions_token_digest on sessions using hash (token_digest)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop index sessions_token_digest;
alter table sessions add constraint sessions_token_digest unique (token_digest)`);
}
