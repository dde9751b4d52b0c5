import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table password_resets (
  token_digest bytea primary key,
  developer_id text collate "C" references developers,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index password_resets_developer on password_resets (developer_id) where developer_id is not null;
create index password_resets_expires_at on password_resets (expires_at);
comment on table password_resets is 'Links that were mailed to people who want a new password';
comment on column password_resets.token_digest is 'SHA-256 of the last part of the link';
comment on column password_resets.developer_id is
  'Null if the address has no account: the time of the response must not reveal that';

alter table developers add column sign_in_generation integer not null default 0;
alter table developer_sessions add column sign_in_generation integer not null default 0;
comment on column developers.sign_in_generation is 'How often all that the developer had signed in to was ended';
comment on column developer_sessions.sign_in_generation is
  'The generation of the developer when the password was verified: sessions of an earlier one have ended';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table developer_sessions drop column sign_in_generation;
alter table developers drop column sign_in_generation;
drop table password_resets;
`);
}
