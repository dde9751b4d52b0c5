import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table events add column audience text, add column fault text, add column broker_fault text;
comment on column events.audience is
  'Its audience besides the developer, as the version that wrote it knows it; null from versions that did '
  'not write it';
comment on column events.fault is 'Why it cannot be published: it is set aside until this is null again';
comment on column events.broker_fault is 'Why the broker outside does not have it, though others do'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table events drop column audience, drop column fault, drop column broker_fault`);
}
