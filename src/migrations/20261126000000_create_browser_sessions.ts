import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table developer_sessions
  add column developer_session_id text collate "C",
  add column kind text not null default 'api' check (kind in ('api', 'browser')),
  add column address text,
  add column user_agent text,
  add column last_used_at timestamptz;
comment on column developer_sessions.developer_session_id is
  'Null for sessions that an earlier version opened, which expire within a day';
comment on column developer_sessions.token_digest is 'SHA-256 of the bearer token or of the cookie';
comment on column developer_sessions.kind is 'Whether it has a bearer token or a cookie';
comment on column developer_sessions.address is 'Where the developer signed in from, in canonical form';
comment on column developer_sessions.last_used_at is 'Written now and then, not with every request';

create table browser_sessions (
  cookie_digest bytea primary key,
  api_token_id text collate "C" references api_tokens on delete cascade,
  administrator_mac bytea,
  address text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check (num_nonnulls(api_token_id, administrator_mac) = 1)
);
create index browser_sessions_api_token on browser_sessions (api_token_id) where api_token_id is not null;
create index browser_sessions_expires_at on browser_sessions (expires_at);
comment on table browser_sessions is
  'Browsers of resellers and the administrator; those of developers are developer_sessions';
comment on column browser_sessions.cookie_digest is 'SHA-256 of the cookie';
comment on column browser_sessions.api_token_id is 'The token of the reseller: the session ends with it';
comment on column browser_sessions.administrator_mac is
  'HMAC-SHA-256 of the administrator''s token, keyed with the cookie: the session ends when that token is removed';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
drop table browser_sessions;
alter table developer_sessions drop column developer_session_id, drop column kind, drop column address,
  drop column user_agent, drop column last_used_at`);
}
