import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Two statements: what is there keeps what its programs expect, and what is made from now on is bound.
  await knex.raw(`
alter table applications add bind_responses boolean not null default false;
alter table applications alter bind_responses set default true;
comment on column applications.bind_responses is 'Whether responses to unsigned requests carry signatures of version 2 alone, which are bound to operation and request'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table applications drop bind_responses');
}
