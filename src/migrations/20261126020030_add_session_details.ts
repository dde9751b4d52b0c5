import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table sessions add version text, add address text, add last_seen_at timestamptz;
comment on column sessions.version is 'The version of the program, as it was sent at login';
comment on column sessions.address is 'The address that the login came from; null for older sessions';
comment on column sessions.last_seen_at is
  'When it was last verified, accurate to some minutes; null until it was. In no index, so that writing it is cheap';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table sessions drop version, drop address, drop last_seen_at');
}
