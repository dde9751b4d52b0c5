import type { Knex } from 'knex';

/** Developers register meanwhile. */
export const config = { transaction: false };

const INDEXES = {
  developers_name: '((lower(name) collate "C")) where name is not null',
  developers_plan: '(plan_id, developer_id)',
  developers_suspended: '(developer_id) where suspended_at is not null',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, definition] of Object.entries(INDEXES)) {
    // An index build that was interrupted leaves an index that is not valid.
    await knex.raw('drop index concurrently if exists ??', [name]);
    await knex.raw(`create index concurrently ?? on developers ${definition}`, [name]);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of Object.keys(INDEXES)) await knex.raw('drop index concurrently if exists ??', [name]);
}
