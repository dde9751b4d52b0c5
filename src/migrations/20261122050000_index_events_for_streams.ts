import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create index events_app_type on events (app_id, type, position) where position is not null;
create index events_user on events (user_id, position) where position is not null and user_id is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index events_app_type, events_user');
}
