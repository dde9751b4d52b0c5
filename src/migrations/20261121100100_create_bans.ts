import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table bans (
  ban_id text collate "C" primary key,
  app_id text collate "C" not null references applications on delete cascade,
  kind text not null check (kind in ('user', 'hardware', 'network')),
  user_id text collate "C" references users on delete cascade,
  hwid_digest bytea,
  network cidr,
  reason text,
  expires_at timestamptz,
  created_at timestamptz not null,
  check (kind <> 'user' or user_id is not null),
  check ((kind = 'hardware') = (hwid_digest is not null)),
  check ((kind = 'network') = (network is not null))
);
create index bans_app on bans (app_id, ban_id);
create index bans_user on bans (user_id) where user_id is not null;
create index bans_hardware on bans (app_id, hwid_digest) where kind = 'hardware';
create index bans_network on bans using gist (network inet_ops) where kind = 'network';
comment on column bans.user_id is 'The user who is banned, or whose machine is';
comment on column bans.hwid_digest is 'HMAC-SHA-256 of the machine, as in users';
comment on column bans.expires_at is 'When the ban ends by itself; null if it must be lifted';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table bans');
}
