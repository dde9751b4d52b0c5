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
import * as extendLicenses from './20261122010000_extend_licenses.ts';
import * as indexLicenses from './20261122010100_index_licenses.ts';
import * as addUserManagement from './20261122020000_add_user_management.ts';
import * as createVariables from './20261122030000_create_variables.ts';
import * as createFiles from './20261122030100_create_files.ts';
import * as createResellerLedger from './20261122040000_create_reseller_ledger.ts';
import * as indexResellerLicenses from './20261122040100_index_reseller_licenses.ts';
import * as indexEventsForStreams from './20261122050000_index_events_for_streams.ts';
import * as createSessionIds from './20261122050100_create_session_ids.ts';
import * as createWebhooks from './20261122060000_create_webhooks.ts';
import * as addPreviousSecrets from './20261122070000_add_previous_secrets.ts';
import * as createDailyStatistics from './20261122070100_create_daily_statistics.ts';
import * as indexSessionsByApplication from './20261122070200_index_sessions_by_application.ts';
import * as createTestProcessor from './20261122080000_create_test_processor.ts';
import * as createMachinePayments from './20261122080100_create_machine_payments.ts';
import * as extendResellerLedger from './20261122080200_extend_reseller_ledger.ts';
import * as sellPlans from './20261122080300_sell_plans.ts';
import * as createOAuth from './20261123000000_create_oauth.ts';
import * as createAgents from './20261123000100_create_agents.ts';
import * as indexUnpaidTestCheckouts from './20261123100000_index_unpaid_test_checkouts.ts';
import * as createPasswordResets from './20261124000000_create_password_resets.ts';
import * as indexDeveloperSessions from './20261124000010_index_developer_sessions.ts';
import * as indexAgentClaims from './20261124000020_index_agent_claims.ts';
import * as addUsernameLooks from './20261125010000_add_username_looks.ts';
import * as indexUsernameLooks from './20261125010010_index_username_looks.ts';
import * as addBindResponses from './20261125020000_add_bind_responses.ts';
import * as setEventsAside from './20261125050000_set_events_aside.ts';
import * as indexEventsSetAside from './20261125050010_index_events_set_aside.ts';
import * as setMoreAside from './20261125055000_set_more_aside.ts';
import * as indexWhatIsSetAside from './20261125055010_index_what_is_set_aside.ts';
import * as createBrowserSessions from './20261126000000_create_browser_sessions.ts';
import * as indexDeveloperSessionIds from './20261126000010_index_developer_session_ids.ts';
import * as countLicenses from './20261126010000_count_licenses.ts';
import * as countEarlierLicenses from './20261126010010_count_earlier_licenses.ts';
import * as extendStatistics from './20261126010020_extend_statistics.ts';
import * as countResellerSales from './20261126010030_count_reseller_sales.ts';
import * as countEarlierResellerSales from './20261126010040_count_earlier_reseller_sales.ts';
import * as addSubscriptionEnds from './20261126020000_add_subscription_ends.ts';
import * as fillSubscriptionEnds from './20261126020010_fill_subscription_ends.ts';
import * as indexSubscriptionEnds from './20261126020020_index_subscription_ends.ts';
import * as addSessionDetails from './20261126020030_add_session_details.ts';
import * as indexLiveSessions from './20261126020040_index_live_sessions.ts';
import * as indexPartsOfUsernames from './20261126020050_index_parts_of_usernames.ts';
import * as addApiTokenLastUses from './20261126030000_add_api_token_last_uses.ts';
import * as indexAuditLogByActorKind from './20261126030010_index_audit_log_by_actor_kind.ts';
import * as addInvoicePaymentTimes from './20261126030020_add_invoice_payment_times.ts';
import * as indexInvoicesByPayment from './20261126030030_index_invoices_by_payment.ts';
import * as addSuspensions from './20261126030040_add_suspensions.ts';
import * as indexDevelopersForLists from './20261126030050_index_developers_for_lists.ts';
import * as addNodeDetails from './20261126030060_add_node_details.ts';
import * as keepPausesInSuspensions from './20261126030070_keep_pauses_in_suspensions.ts';
import * as countSessions from './20261126040000_count_sessions.ts';
import * as countEarlierSessions from './20261126040010_count_earlier_sessions.ts';
import * as indexAuditLogByActorKindAndAction from './20261126040020_index_audit_log_by_actor_kind_and_action.ts';
import * as indexFiltersOfUsers from './20261126040030_index_filters_of_users.ts';
import * as createApplicationKeys from './20261126050000_create_application_keys.ts';
import * as createDevices from './20261126050010_create_devices.ts';

/** A migration; one with `transaction: false` runs outside of any, as an index that is built concurrently must. */
type Migration = Knex.Migration & { readonly config?: { readonly transaction: boolean } };

/** Every migration by its name, in the order in which they run. Append only. */
const migrations: Readonly<Record<string, Migration>> = {
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
  '20261122010000_extend_licenses': extendLicenses,
  '20261122010100_index_licenses': indexLicenses,
  '20261122020000_add_user_management': addUserManagement,
  '20261122030000_create_variables': createVariables,
  '20261122030100_create_files': createFiles,
  '20261122040000_create_reseller_ledger': createResellerLedger,
  '20261122040100_index_reseller_licenses': indexResellerLicenses,
  '20261122050000_index_events_for_streams': indexEventsForStreams,
  '20261122050100_create_session_ids': createSessionIds,
  '20261122060000_create_webhooks': createWebhooks,
  '20261122070000_add_previous_secrets': addPreviousSecrets,
  '20261122070100_create_daily_statistics': createDailyStatistics,
  '20261122070200_index_sessions_by_application': indexSessionsByApplication,
  '20261122080000_create_test_processor': createTestProcessor,
  '20261122080100_create_machine_payments': createMachinePayments,
  '20261122080200_extend_reseller_ledger': extendResellerLedger,
  '20261122080300_sell_plans': sellPlans,
  '20261123000000_create_oauth': createOAuth,
  '20261123000100_create_agents': createAgents,
  '20261123100000_index_unpaid_test_checkouts': indexUnpaidTestCheckouts,
  '20261124000000_create_password_resets': createPasswordResets,
  '20261124000010_index_developer_sessions': indexDeveloperSessions,
  '20261124000020_index_agent_claims': indexAgentClaims,
  '20261125010000_add_username_looks': addUsernameLooks,
  '20261125010010_index_username_looks': indexUsernameLooks,
  '20261125020000_add_bind_responses': addBindResponses,
  '20261125050000_set_events_aside': setEventsAside,
  '20261125050010_index_events_set_aside': indexEventsSetAside,
  '20261125055000_set_more_aside': setMoreAside,
  '20261125055010_index_what_is_set_aside': indexWhatIsSetAside,
  '20261126000000_create_browser_sessions': createBrowserSessions,
  '20261126000010_index_developer_session_ids': indexDeveloperSessionIds,
  '20261126010000_count_licenses': countLicenses,
  '20261126010010_count_earlier_licenses': countEarlierLicenses,
  '20261126010020_extend_statistics': extendStatistics,
  '20261126010030_count_reseller_sales': countResellerSales,
  '20261126010040_count_earlier_reseller_sales': countEarlierResellerSales,
  '20261126020000_add_subscription_ends': addSubscriptionEnds,
  '20261126020010_fill_subscription_ends': fillSubscriptionEnds,
  '20261126020020_index_subscription_ends': indexSubscriptionEnds,
  '20261126020030_add_session_details': addSessionDetails,
  '20261126020040_index_live_sessions': indexLiveSessions,
  '20261126020050_index_parts_of_usernames': indexPartsOfUsernames,
  '20261126030000_add_api_token_last_uses': addApiTokenLastUses,
  '20261126030010_index_audit_log_by_actor_kind': indexAuditLogByActorKind,
  '20261126030020_add_invoice_payment_times': addInvoicePaymentTimes,
  '20261126030030_index_invoices_by_payment': indexInvoicesByPayment,
  '20261126030040_add_suspensions': addSuspensions,
  '20261126030050_index_developers_for_lists': indexDevelopersForLists,
  '20261126030060_add_node_details': addNodeDetails,
  '20261126030070_keep_pauses_in_suspensions': keepPausesInSuspensions,
  '20261126040000_count_sessions': countSessions,
  '20261126040010_count_earlier_sessions': countEarlierSessions,
  '20261126040020_index_audit_log_by_actor_kind_and_action': indexAuditLogByActorKindAndAction,
  '20261126040030_index_filters_of_users': indexFiltersOfUsers,
  '20261126050000_create_application_keys': createApplicationKeys,
  '20261126050010_create_devices': createDevices,
};

const source: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  getMigration: async (name) => patiently(migrations[name]!),
};

/** Chosen once for this service: processes that migrate the same database wait for each other on it. */
const MIGRATION_LOCK = 7_016_996_765;

/** A migration that waits for a table blocks all later transactions, so it waits no longer than this. */
const LOCK_WITHIN_MS = 500;
const ATTEMPTS = 60;
const LOCK_PAUSE_MS = 20;
const LOCK_NOT_AVAILABLE = '55P03';
const UNDEFINED_TABLE = '42P01';

function patiently({ up, down, config }: Migration): Migration {
  // Statements outside of a transaction block no others while they wait.
  if (config?.transaction === false) return { up, ...(down && { down }), config };
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

/** @returns whether no other process migrates; none can until the transaction ends */
async function tryLock(trx: Knex.Transaction): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { locked: boolean }[] }>(
    // Without a parameter, which would leave a portal open, whose snapshot a concurrent index build would wait for.
    `select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as locked`,
  );
  return rows[0]!.locked;
}

async function migrateAlone(knex: Knex): Promise<string[]> {
  const config: Knex.MigratorConfig = {
    migrationSource: source,
    tableName: 'schema_migrations',
    // An older version must still start while a newer one has already migrated.
    disableMigrationsListValidation: true,
  };
  // knex keeps its own lock in a table, which survives a kill. While this process holds the advisory lock, no other
  // process can hold the one of knex.
  if (await knex.schema.hasTable('schema_migrations_lock'))
    await knex.migrate.forceFreeMigrationsLock(config);
  return migrateLatest(knex, config);
}

/** Whether every migration of this version has run. */
async function isUpToDate(knex: Knex): Promise<boolean> {
  try {
    // Of the schema in which knex would create it, not of one that comes later in the search path.
    const { rows } = await knex.raw<{ rows: { name: string }[] }>(
      `select name from schema_migrations
       where tableoid = to_regclass(quote_ident(current_schema()) || '.schema_migrations')`,
    );
    const ran = new Set(rows.map(({ name }) => name));
    return Object.keys(migrations).every((name) => ran.has(name));
  } catch (error) {
    if ((error as { code?: string }).code === UNDEFINED_TABLE) return false;
    throw error;
  }
}

/**
 * Brings the database to this version's schema. Any number of processes may call it at once, and one that was
 * killed on the way leaves nothing locked: the lock is the database's own and ends with the connection.
 * @returns names of the migrations that ran
 */
export async function migrate(knex: Knex): Promise<string[]> {
  // Most starts find nothing to do, and need no lock to see that.
  if (await isUpToDate(knex)) return [];
  for (;;) {
    // A new transaction for each check: a concurrent index build waits for all open transactions.
    const ran = await knex.transaction(async (lock) =>
      (await tryLock(lock)) ? migrateAlone(knex) : undefined,
    );
    if (ran) return ran;
    await delay(LOCK_PAUSE_MS);
  }
}

/** The last migration that ran, and how many of this version are missing. */
export async function migrationState(
  knex: Knex,
): Promise<{ readonly latest: string | null; readonly pending: number }> {
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    'select name from schema_migrations order by id',
  );
  const ran = new Set(rows.map(({ name }) => name));
  const pending = Object.keys(migrations).filter((name) => !ran.has(name)).length;
  return { latest: rows.at(-1)?.name ?? null, pending };
}
