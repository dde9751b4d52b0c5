import type { Knex } from 'knex';

/** A million licenses take seconds to index, and must be redeemable meanwhile. */
export const config = { transaction: false };

const INDEXES = {
  licenses_status: '(app_id, status, license_id)',
  licenses_tier: '(app_id, tier, status, license_id)',
  licenses_holder: '(app_id, redeemed_by) where redeemed_by is not null',
};
const NOTE = 'using gin (note gin_trgm_ops) where note is not null';

export async function up(knex: Knex): Promise<void> {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    `select from pg_opclass where opcname = 'gin_trgm_ops'`,
  );
  const indexes = { ...INDEXES, ...(rows.length > 0 && { licenses_note: NOTE }) };
  for (const [name, what] of Object.entries(indexes)) {
    // An interrupted build leaves an invalid index.
    await knex.raw(`drop index concurrently if exists ${name}`);
    await knex.raw(`create index concurrently ${name} on licenses ${what}`);
  }
}

export async function down(knex: Knex): Promise<void> {
  for (const name of ['licenses_note', ...Object.keys(INDEXES)]) {
    await knex.raw(`drop index concurrently if exists ${name}`);
  }
}
