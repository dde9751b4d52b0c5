import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table invoices add paid_at timestamptz;
comment on column invoices.paid_at is
  'When its payment was recorded; null for one that is not paid, or was paid before this column existed: then it is '
  'the time of creation'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table invoices drop paid_at');
}
