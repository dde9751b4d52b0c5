import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table applications
  add require_signatures boolean not null default false,
  add block_vpn boolean not null default false,
  add vpn_fail_closed boolean not null default false,
  add has_client_bans boolean not null default false;
comment on column applications.vpn_fail_closed is
  'Whether all logins are refused while the list of networks cannot be read';
comment on column applications.has_client_bans is
  'Whether machines or networks are banned: without any, verification skips the lookup';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table applications
    drop require_signatures, drop block_vpn, drop vpn_fail_closed, drop has_client_bans`);
}
