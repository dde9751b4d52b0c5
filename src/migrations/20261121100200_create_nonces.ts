import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table nonces (
  nonce_digest bytea primary key,
  expires_at timestamptz not null
);
create index nonces_expires_at on nonces (expires_at);
comment on table nonces is 'Nonces of signed requests that must not work again';
comment on column nonces.nonce_digest is 'SHA-256 of the application and the nonce';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table nonces');
}
