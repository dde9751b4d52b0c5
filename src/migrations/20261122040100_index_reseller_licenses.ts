import type { Knex } from 'knex';

/** Partial, and empty where no reseller has generated licences yet: made in one look through the table. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create index licenses_reseller_status on licenses (reseller_id, status, license_id) where reseller_id is not null;
create index licenses_reseller_users on licenses (reseller_id, redeemed_by)
  where reseller_id is not null and redeemed_by is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index licenses_reseller_status, licenses_reseller_users');
}
