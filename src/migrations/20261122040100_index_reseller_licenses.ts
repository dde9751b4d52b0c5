import type { Knex } from 'knex';

/** Without licenses of resellers the indexes are empty, but building them reads the whole table. */
export const config = { transaction: false };

const INDEXES = {
  licenses_reseller_status: '(reseller_id, status, license_id) where reseller_id is not null',
  licenses_reseller_users:
    '(reseller_id, redeemed_by) where reseller_id is not null and redeemed_by is not null',
};

export async function up(knex: Knex): Promise<void> {
  for (const [name, what] of Object.entries(INDEXES)) {
    // An interrupted build leaves an invalid index.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on licenses ${what}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of Object.keys(INDEXES)) await knex.raw(`drop index concurrently ${name}`);
}
