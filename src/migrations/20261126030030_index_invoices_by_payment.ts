import type { Knex } from 'knex';

/** Invoices are written meanwhile. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // An index build that was interrupted leaves an index that is not valid.
  await knex.raw('drop index concurrently if exists invoices_paid');
  await knex.raw(`
create index concurrently invoices_paid on invoices (processor, coalesce(paid_at, created_at)) where state = 'paid'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists invoices_paid');
}
