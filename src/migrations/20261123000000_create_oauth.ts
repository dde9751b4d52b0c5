import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table signing_keys (
  key_id text collate "C" primary key,
  alg text not null check (alg in ('ES256', 'RS256')),
  public_jwk jsonb not null,
  sealed bytea,
  created_at timestamptz not null,
  active_from timestamptz not null,
  removed_at timestamptz,
  check ((sealed is null) = (removed_at is not null))
);
comment on table signing_keys is
  'Keys that sign what others verify: access tokens, ID tokens and security events';
comment on column signing_keys.sealed is
  'The private key (PKCS #8), encrypted under a master key; null after the key is removed';
comment on column signing_keys.active_from is
  'When it begins to sign: it is published earlier, so that verifiers know it';
comment on column signing_keys.removed_at is 'Since when nothing that it signed is accepted';

create table oauth_clients (
  client_id text collate "C" primary key,
  developer_id text collate "C" references developers,
  name text not null,
  metadata jsonb not null,
  secret_sealed bytea,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  used_at timestamptz
);
create index oauth_clients_developer on oauth_clients (developer_id, client_id);
create index oauth_clients_unowned on oauth_clients (coalesce(used_at, created_at)) where developer_id is null;
comment on table oauth_clients is 'Clients of the authorization server';
comment on column oauth_clients.developer_id is
  'Whose it is; null for one that has registered itself (RFC 7591)';
comment on column oauth_clients.metadata is 'Client metadata (RFC 7591), without the secret';
comment on column oauth_clients.secret_sealed is
  'client_secret, encrypted under a master key; null for a public client';
comment on column oauth_clients.used_at is 'When it was used last, by the day';

create table oauth_records (
  model text collate "C" not null,
  id_digest bytea not null,
  grant_id text collate "C",
  user_code_digest bytea,
  uid_digest bytea,
  account_id text collate "C",
  client_id text collate "C",
  sealed bytea not null,
  consumed_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (model, id_digest)
);
create index oauth_records_grant on oauth_records (grant_id) where grant_id is not null;
create unique index oauth_records_user_code on oauth_records (user_code_digest) where user_code_digest is not null;
create index oauth_records_uid on oauth_records (uid_digest) where uid_digest is not null;
create index oauth_records_client on oauth_records (client_id) where client_id is not null;
create index oauth_records_account on oauth_records (account_id, model) where account_id is not null;
create index oauth_records_expires_at on oauth_records (expires_at);
comment on table oauth_records is
  'State of the authorization server: sessions, interactions, codes, refresh tokens and grants';
comment on column oauth_records.id_digest is 'SHA-256 of the identifier, which may be a code or a token';
comment on column oauth_records.grant_id is 'What it was issued under; of a grant itself its own id';
comment on column oauth_records.sealed is 'The payload, encrypted under a master key: it repeats the identifier';

create table access_tokens (
  token_digest bytea primary key,
  client_id text collate "C" not null,
  developer_id text collate "C" references developers,
  agent_id text collate "C",
  grant_id text collate "C",
  scopes text[] not null,
  audience text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index access_tokens_expires_at on access_tokens (expires_at);
create index access_tokens_grant on access_tokens (grant_id) where grant_id is not null;
create index access_tokens_agent on access_tokens (agent_id) where agent_id is not null;
create index access_tokens_client on access_tokens (client_id);
comment on table access_tokens is 'Access tokens that the authorization server has issued (RFC 9068)';
comment on column access_tokens.token_digest is 'SHA-256 of the token: without its row a token is nothing';
comment on column access_tokens.developer_id is 'The developer on whose behalf the client acts';
comment on column access_tokens.agent_id is 'Of the agent whose assertion it was issued for';

alter table developers add column email_verified_at timestamptz;
alter table developers add column has_password boolean not null default true;
comment on column developers.email_verified_at is 'When the control of this email address was last proved';
comment on column developers.has_password is 'False for an account that an agent created for a developer';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table developers drop column has_password;
alter table developers drop column email_verified_at;
drop table access_tokens, oauth_records, oauth_clients, signing_keys;
`);
}
