import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table application_keys (
  kid text collate "C" primary key,
  app_id text collate "C" not null references applications on delete cascade,
  state text not null check (state in ('signing', 'next', 'previous', 'retired')),
  public_key bytea not null,
  private_key_sealed bytea,
  created_at timestamptz not null,
  signing_since timestamptz,
  retired_at timestamptz,
  check ((private_key_sealed is null) = (state = 'retired')),
  check ((retired_at is null) = (state <> 'retired'))
);
create unique index application_keys_signing on application_keys (app_id) where state = 'signing';
create unique index application_keys_next on application_keys (app_id) where state = 'next';
create index application_keys_app on application_keys (app_id, created_at);
comment on table application_keys is
  'Ed25519 keys that programs pin to recognize this service; applications from before have none until they are read';
comment on column application_keys.kid is 'The JWK thumbprint (RFC 7638) of the public key';
comment on column application_keys.state is
  'Responses are signed with the signing key. The next key replaces it at a rotation, and the previous ones sign only '
  'statements about keys, for programs that know no newer one';
comment on column application_keys.public_key is '32 bytes (RFC 8032)';
comment on column application_keys.private_key_sealed is
  'The private key (PKCS #8) under the master key; deleted at retirement';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table application_keys');
}
