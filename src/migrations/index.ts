import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import * as createSchema from './20261121000000_create_schema.ts';
import * as addApplicationSwitches from './20261121100000_add_application_switches.ts';
import * as createBans from './20261121100100_create_bans.ts';
import * as createNonces from './20261121100200_create_nonces.ts';
import * as createRateLimits from './20261121100300_create_rate_limits.ts';
import * as createNodes from './20261121100400_create_nodes.ts';
import * as addPlanPrices from './20261121100500_add_plan_prices.ts';
import * as addLicenseUsers from './20261121100600_add_license_users.ts';
import * as indexTokensByHash from './20261121200000_index_tokens_by_hash.ts';
import * as createEvents from './20261122000000_create_events.ts';
import * as createApiTokens from './20261122000100_create_api_tokens.ts';
import * as createIdempotencyKeys from './20261122000200_create_idempotency_keys.ts';

/** Every migration by its name, in the order in which they run. Append only. */
const migrations: Readonly<Record<string, Knex.Migration>> = {
  '20261121000000_create_schema': createSchema,
  '20261121100000_add_application_switches': addApplicationSwitches,
  '20261121100100_create_bans': createBans,
  '20261121100200_create_nonces': createNonces,
  '20261121100300_create_rate_limits': createRateLimits,
  '20261121100400_create_nodes': createNodes,
  '20261121100500_add_plan_prices': addPlanPrices,
  '20261121100600_add_license_users': addLicenseUsers,
  '20261121200000_index_tokens_by_hash': indexTokensByHash,
  '20261122000000_create_events': createEvents,
  '20261122000100_create_api_tokens': createApiTokens,
  '20261122000200_create_idempotency_keys': createIdempotencyKeys,
};

const source: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  getMigration: async (name) => patiently(migrations[name]!),
};

/** Chosen once for this service: processes that migrate the same database wait for each other on it. */
const MIGRATION_LOCK = 7_016_996_765;

/** Whoever waits for a table keeps out everybody who comes later: no longer than this. */
const LOCK_WITHIN_MS = 500;
const ATTEMPTS = 60;
const LOCK_NOT_AVAILABLE = '55P03';

function patiently({ up, down }: Knex.Migration): Knex.Migration {
  return {
    async up(knex) {
      await knex.raw(`set local lock_timeout = ${LOCK_WITHIN_MS}`);
      await up(knex);
    },
    ...(down && { down }),
  };
}

/** Runs the migrations, again when a table could not be locked in time. @returns names of those that ran */
async function migrateLatest(knex: Knex, config: Knex.MigratorConfig): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [, ran] = (await knex.migrate.latest(config)) as [number, string[]];
      return ran;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt === ATTEMPTS) throw error;
      await delay(LOCK_WITHIN_MS);
    }
  }
}

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
    return migrateLatest(knex, config);
  });
}
