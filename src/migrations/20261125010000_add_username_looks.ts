import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table users add column username_look text collate "C";
comment on column users.username_look is
  'The visual form of the username if it differs from its key; null for users older than the column';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table users drop column username_look');
}
