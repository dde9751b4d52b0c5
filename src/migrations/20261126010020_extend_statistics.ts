import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table hourly_statistics (
  app_id text collate "C" not null,
  hour timestamptz not null,
  metric text collate "C" not null,
  count bigint not null,
  primary key (app_id, hour, metric)
) with (fillfactor = 80);
create index hourly_statistics_hour on hourly_statistics (hour);
comment on table hourly_statistics is
  'What happened in an application in an hour, for 31 days, counted in the transaction that publishes the events';
comment on column hourly_statistics.hour is 'When it began';

create table active_users (
  day date not null,
  app_id text collate "C" not null,
  user_id text collate "C" not null,
  primary key (day, app_id, user_id)
);
comment on table active_users is
  'Who logged in on a day, for a few days: daily_statistics counts each of them once';
comment on column active_users.day is 'In UTC';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table hourly_statistics, active_users');
}
