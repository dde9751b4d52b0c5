import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table nodes (
  node_id text collate "C" primary key,
  seen_at timestamptz not null
) with (fillfactor = 50);
comment on table nodes is 'The processes of this cluster, each of which says again and again that it is alive';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table nodes');
}
