import type { Knex } from 'knex';

/** The tables are written to meanwhile. */
export const config = { transaction: false };

const KEYS = {
  security_event_deliveries: 'delivery_id',
  test_checkouts: 'session_ref',
  test_subscriptions: 'subscription_ref',
  test_payments: 'payment_ref',
};

export async function up(knex: Knex): Promise<void> {
  for (const [table, key] of Object.entries(KEYS)) {
    // An index build that was interrupted leaves an index that is not valid.
    await knex.raw('drop index concurrently if exists ??', [`${table}_set_aside`]);
    await knex.raw('create index concurrently ?? on ?? (??) where fault is not null', [
      `${table}_set_aside`,
      table,
      key,
    ]);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const table of Object.keys(KEYS)) {
    await knex.raw('drop index concurrently if exists ??', [`${table}_set_aside`]);
  }
}
