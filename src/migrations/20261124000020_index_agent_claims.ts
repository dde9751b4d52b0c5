import type { Knex } from 'knex';

/** Agents are claimed meanwhile. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists agent_claims_developer');
  await knex.raw(
    'create index concurrently agent_claims_developer on agent_claims (developer_id) where developer_id is not null',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists agent_claims_developer');
}
