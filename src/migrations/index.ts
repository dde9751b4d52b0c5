import type { Knex } from 'knex';
import * as createSchema from './20261121000000_create_schema.ts';
import * as addApplicationSwitches from './20261121100000_add_application_switches.ts';
import * as createBans from './20261121100100_create_bans.ts';
import * as createNonces from './20261121100200_create_nonces.ts';
import * as createRateLimits from './20261121100300_create_rate_limits.ts';
import * as createNodes from './20261121100400_create_nodes.ts';
import * as addPlanPrices from './20261121100500_add_plan_prices.ts';
import * as allowUsersWithoutPassword from './20261121100600_allow_users_without_password.ts';

/** Every migration by its name, in the order in which they run. Append only. */
const migrations: Readonly<Record<string, Knex.Migration>> = {
  '20261121000000_create_schema': createSchema,
  '20261121100000_add_application_switches': addApplicationSwitches,
  '20261121100100_create_bans': createBans,
  '20261121100200_create_nonces': createNonces,
  '20261121100300_create_rate_limits': createRateLimits,
  '20261121100400_create_nodes': createNodes,
  '20261121100500_add_plan_prices': addPlanPrices,
  '20261121100600_allow_users_without_password': allowUsersWithoutPassword,
};

const source: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  getMigration: async (name) => migrations[name]!,
};

/** Chosen once for this service: processes that migrate the same database wait for each other on it. */
const MIGRATION_LOCK = 7_016_996_765;

/**
 * Brings the database to this version's schema. Any number of processes may call it at once, and one that was
 * killed on the way leaves nothing locked: the lock is the database's own and ends with the connection.
 * @returns names of the migrations that ran
 */
export async function migrate(knex: Knex): Promise<string[]> {
  return knex.transaction(async (lock) => {
    await lock.raw('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
    const config: Knex.MigratorConfig = {
      migrationSource: source,
      tableName: 'schema_migrations',
      // An older version must still start beside a newer one that has migrated already.
      disableMigrationsListValidation: true,
    };
    // knex keeps a lock of its own in a table, which survives a kill; under ours nobody else can hold it.
    if (await lock.schema.hasTable('schema_migrations_lock'))
      await knex.migrate.forceFreeMigrationsLock(config);
    const [, ran] = (await knex.migrate.latest(config)) as [number, string[]];
    return ran;
  });
}
