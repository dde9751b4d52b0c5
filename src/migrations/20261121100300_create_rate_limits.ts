import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create unlogged table rate_limits (
  key text collate "C" primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
create index rate_limits_expire on rate_limits (expire);
comment on table rate_limits is
  'Counters of windows of a minute, in the form of rate-limiter-flexible; they do not have to survive a '
  'crash';
comment on column rate_limits.expire is 'Unix milliseconds';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table rate_limits');
}
