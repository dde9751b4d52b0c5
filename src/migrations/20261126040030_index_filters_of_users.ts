import type { Knex } from 'knex';

/** Users register and log in meanwhile. */
export const config = { transaction: false };

/** What lists of users filter by, where few match. */
const INDEXES = {
  users_with_machine: 'users (app_id, user_id) where hwid_digest is not null',
  users_without_machine: 'users (app_id, user_id) where hwid_digest is null',
  subscriptions_tier: 'subscriptions (tier, ends_at)',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, columns] of Object.entries(INDEXES)) {
    // An interrupted build leaves an invalid index.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on ${columns}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of Object.keys(INDEXES)) await knex.raw(`drop index concurrently if exists ${name}`);
}
