import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table idempotency_keys (
  key_digest bytea primary key,
  fingerprint bytea not null,
  answer_sealed bytea not null,
  expires_at timestamptz not null
);
create index idempotency_keys_expires_at on idempotency_keys (expires_at);
comment on table idempotency_keys is
  'Responses to requests with an Idempotency-Key, each written in the transaction of its effect';
comment on column idempotency_keys.key_digest is 'SHA-256 of the key and its owner';
comment on column idempotency_keys.fingerprint is 'SHA-256 of the request';
comment on column idempotency_keys.answer_sealed is
  'The response, AES-256-GCM under the master key, because it may contain secrets';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table idempotency_keys');
}
