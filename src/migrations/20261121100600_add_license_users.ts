import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table users
  alter password_hash drop not null,
  add license_id text collate "C";
comment on column users.password_hash is
  'Argon2id in PHC form; null for a user who logs in only with a license key';
comment on column users.license_id is 'The license whose first login created this user';
`);
}

export async function down(knex: Knex): Promise<void> {
  // A hash that no password has.
  await knex.raw(`
update users set password_hash = '!' where password_hash is null;
alter table users alter password_hash set not null, drop license_id`);
}
