import type { Knex } from 'knex';

/** Purchases continue while the indexes are built. */
export const config = { transaction: false };

const INDEXES = {
  // What clearing looks for.
  test_checkouts_unpaid: "test_checkouts (expires_at) where state in ('failed', 'expired')",
  // What the database looks for when a checkout is cleared.
  test_subscriptions_session: 'test_subscriptions (session_ref)',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, what] of Object.entries(INDEXES)) {
    // An interrupted build leaves an invalid index.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on ${what}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of Object.keys(INDEXES)) await knex.raw(`drop index concurrently if exists ${name}`);
}
