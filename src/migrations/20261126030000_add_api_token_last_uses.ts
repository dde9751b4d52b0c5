import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table api_tokens add last_used_at timestamptz;
comment on column api_tokens.last_used_at is
  'The last request with the token, written in the background; null for a token that was never used'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table api_tokens drop last_used_at');
}
