import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table users add column username_look text collate "C";
comment on column users.username_look is 'What the username looks like, where that is not its key; null for users from before the column';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table users drop column username_look');
}
