import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table users alter password_hash drop not null;
comment on column users.password_hash is 'Argon2id in PHC form; null for a user who logs in with a licence key alone';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table users alter password_hash set not null');
}
