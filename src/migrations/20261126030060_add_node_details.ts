import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table nodes add version text, add started_at timestamptz;
comment on column nodes.version is 'Of the service; null for a node of version 2.0.0'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table nodes drop version, drop started_at');
}
