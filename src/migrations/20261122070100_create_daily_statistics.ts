import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table daily_statistics (
  app_id text collate "C" not null references applications on delete cascade,
  day date not null,
  metric text collate "C" not null,
  dimension text collate "C" not null,
  value text collate "C" not null,
  count bigint not null,
  primary key (app_id, day, metric, dimension, value)
) with (fillfactor = 80);
comment on table daily_statistics is
  'What happened in an application on a day, counted in the transaction that publishes the events';
comment on column daily_statistics.day is 'In UTC';
comment on column daily_statistics.dimension is
  'total, or the kind of value: a tier or a version; more_versions counts the remaining versions together';
comment on column daily_statistics.value is 'Empty for none';
comment on column daily_statistics.count is
  'For live_sessions: sessions opened on the day minus those of them that ended on it, which are live at '
  'its end';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table daily_statistics');
}
