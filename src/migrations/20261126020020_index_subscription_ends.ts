import type { Knex } from 'knex';

/** Users register meanwhile. */
export const config = { transaction: false };

const INDEXES = {
  users_subscription_end: '(app_id, subscription_ends_at, user_id)',
  users_app: '(app_id, user_id)',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, columns] of Object.entries(INDEXES)) {
    // An interrupted build leaves an invalid index.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on users ${columns}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of Object.keys(INDEXES)) await knex.raw(`drop index concurrently if exists ${name}`);
}
