import type { Knex } from 'knex';

/** Identifiers and normalized names are compared byte by byte: the "C" collation. */
const SCHEMA = `
create table plans (
  plan_id text collate "C" primary key,
  name text not null,
  max_apps integer not null check (max_apps >= 0),
  max_users_per_app integer not null check (max_users_per_app >= 0)
);
comment on table plans is 'What a developer may have, by plan';

insert into plans (plan_id, name, max_apps, max_users_per_app) values ('free', 'Free', 25, 100000);

create table developers (
  developer_id text collate "C" primary key,
  email text not null,
  email_key text collate "C" not null constraint developers_email_key unique,
  name text,
  password_hash text not null,
  plan_id text collate "C" not null references plans,
  apps integer not null default 0 check (apps >= 0),
  created_at timestamptz not null
);
comment on column developers.email is 'As it was written';
comment on column developers.email_key is 'The address in lower case: what makes it unique';
comment on column developers.password_hash is 'Argon2id in PHC form';
comment on column developers.apps is
  'How many applications exist: counted here, so that the quota holds under concurrency';

create table developer_sessions (
  token_digest bytea primary key,
  developer_id text collate "C" not null references developers on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index developer_sessions_expires_at on developer_sessions (expires_at);
comment on column developer_sessions.token_digest is 'SHA-256 of the bearer token';

create table applications (
  app_id text collate "C" primary key,
  developer_id text collate "C" not null references developers,
  name text not null,
  secret_sealed bytea not null,
  status text not null default 'active' check (status in ('active', 'paused', 'disabled')),
  paused_at timestamptz check ((status = 'paused') = (paused_at is not null)),
  paused_total_ms bigint not null default 0,
  hwid_lock boolean not null default true,
  integrity_check boolean not null default false,
  executable_hashes text[] not null default '{}',
  pause_sessions boolean not null default false,
  require_subscription boolean not null default false,
  minimum_version text,
  download_url text,
  max_sessions integer not null default 5 check (max_sessions >= 1),
  tiers text[] not null default '{Standard,Pro,VIP}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz
);
create index applications_developer on applications (developer_id, app_id) where deleted_at is null;
create index applications_deleted on applications (deleted_at) where deleted_at is not null;
comment on column applications.secret_sealed is 'AES-256-GCM under the master key';
comment on column applications.paused_at is 'Since when subscription clocks stand still';
comment on column applications.paused_total_ms is
  'Milliseconds of all ended pauses: the subscription clock of the application is behind by this much';
comment on column applications.tiers is 'Subscription tiers, the lowest first';
comment on column applications.deleted_at is
  'The application is deleted from this time; its rows are removed afterwards';

create table application_usage (
  app_id text collate "C" primary key references applications on delete cascade,
  users integer not null default 0 check (users >= 0)
) with (fillfactor = 50);
comment on table application_usage is 'Counters, apart from applications because every registration writes them';

create table users (
  user_id text collate "C" primary key,
  app_id text collate "C" not null references applications,
  username text not null,
  username_key text collate "C" not null,
  email text,
  role text not null default 'user',
  password_hash text not null,
  hwid_digest bytea,
  created_at timestamptz not null,
  constraint users_username_key unique (app_id, username_key)
);
comment on column users.username is 'As it was written';
comment on column users.username_key is 'Normalized: NFKC, case-folded, trimmed';
comment on column users.password_hash is 'Argon2id in PHC form';
comment on column users.hwid_digest is 'HMAC-SHA-256 of the bound machine; null until the first login binds one';

create table subscriptions (
  user_id text collate "C" not null references users on delete cascade,
  tier text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  primary key (user_id, tier),
  check (starts_at < ends_at)
);
comment on table subscriptions is
  'The current timeline of a user: consecutive periods, one for each tier, on the subscription clock of '
  'the application';

create table licenses (
  license_id text collate "C" primary key,
  app_id text collate "C" not null references applications,
  key_digest bytea not null,
  key_sealed bytea not null,
  tier text not null,
  duration_days integer check (duration_days > 0),
  status text not null default 'unused' check (status in ('unused', 'redeemed', 'paused', 'banned')),
  note text,
  redeem_by timestamptz,
  created_at timestamptz not null,
  redeemed_at timestamptz,
  redeemed_by text collate "C" references users,
  constraint licenses_key unique (app_id, key_digest)
);
create index licenses_app on licenses (app_id, license_id);
create index licenses_redeemed_by on licenses (redeemed_by) where redeemed_by is not null;
comment on column licenses.key_digest is 'HMAC-SHA-256 of the key: how it is found';
comment on column licenses.key_sealed is 'AES-256-GCM under the master key: how it is shown';
comment on column licenses.duration_days is 'Null is a lifetime';

create table sessions (
  session_digest bytea primary key,
  token_digest bytea not null constraint sessions_token_digest unique,
  app_id text collate "C" not null,
  user_id text collate "C" not null references users on delete cascade,
  hwid_digest bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  end_reason text,
  check ((ended_at is null) = (end_reason is null))
) with (fillfactor = 90);
create index sessions_user on sessions (user_id, created_at);
create index sessions_expires_at on sessions (expires_at);
comment on column sessions.app_id is 'The application of the user, copied here for verification';
comment on column sessions.session_digest is 'SHA-256 of the session id';
comment on column sessions.token_digest is 'SHA-256 of the token that was issued';

create table data_keys (
  purpose text collate "C" not null,
  key_id text collate "C" not null,
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (purpose, key_id)
);
comment on table data_keys is 'Keys of this installation, each sealed under the master key';
`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(SCHEMA);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table data_keys, sessions, licenses, subscriptions, users, application_usage, applications,
    developer_sessions, developers, plans`);
}
