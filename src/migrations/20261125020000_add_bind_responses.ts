import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Two statements: existing applications keep what their programs expect, and new ones bind their responses.
  await knex.raw(`
alter table applications add bind_responses boolean not null default false;
alter table applications alter bind_responses set default true;
comment on column applications.bind_responses is
  'Whether responses to unsigned requests have only signatures of version 2, which are bound to operation '
  'and request'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table applications drop bind_responses');
}
