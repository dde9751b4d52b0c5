import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table plans
  add price_minor bigint not null default 0 check (price_minor >= 0),
  add currency text not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  add period text not null default 'lifetime' check (period in ('monthly', 'yearly', 'lifetime')),
  add features text[] not null default '{}';
comment on column plans.price_minor is 'In minor units of the currency';
update plans set features = '{hwid_lock,unlimited_logins}' where plan_id = 'free';
`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table plans drop price_minor, drop currency, drop period, drop features');
}
