import { createAddresses } from '../../foundation/addresses/addresses.ts';
import { createAudit } from '../../foundation/audit/audit.ts';
import { createBulk } from '../../foundation/bulk/bulk.ts';
import { createCluster } from '../../foundation/cluster/cluster.ts';
import { createEvents } from '../../foundation/events/events.ts';
import { createHealth } from '../../foundation/health/health.ts';
import { createIdempotency } from '../../foundation/idempotency/idempotency.ts';
import type { Config } from '../../config/config.ts';
import { hasKeys, loadKeys, type Keys } from '../../foundation/installation-keys/installation-keys.ts';
import { createLastUses } from '../../foundation/last-uses/last-uses.ts';
import { createLimits } from '../../foundation/limits/limits.ts';
import { createMetrics } from '../../foundation/metrics/metrics.ts';
import { migrate } from '../../migrations/index.ts';
import { createPasswords, type Argon2 } from '../../foundation/passwords/passwords.ts';
import type { AnonymousNetworks } from '../../platform/anonymous-networks/index.ts';
import type { Blobs } from '../../platform/blobs/index.ts';
import type { Broker } from '../../platform/broker/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/index.ts';
import { createNewId } from '../../platform/ids.ts';
import { createJobs, installJobs } from '../../platform/jobs/index.ts';
import { createKeyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import { loadOrCreateAdminToken } from '../../platform/admin-token.ts';
import { loadOrCreateMasterKey } from '../../platform/master-key.ts';
import type { Mail } from '../../platform/mail/index.ts';
import type { MqttServer } from '../../platform/mqtt/index.ts';
import { openPayments } from '../../platform/payments/index.ts';
import type { Random } from '../../platform/random.ts';
import { loadSigningKeys } from '../../foundation/signing-keys/signing-keys.ts';
import { createTokens } from '../../foundation/tokens/tokens.ts';
import { createVpn } from '../../foundation/vpn/vpn.ts';

/** Everything that is open before the services are created. */
export interface Environment {
  readonly config: Config;
  readonly database: Database;
  readonly broker: Broker;
  readonly blobs: Blobs;
  readonly mail: Mail;
  readonly mqtt: MqttServer;
  readonly networks: AnonymousNetworks;
  readonly nodeId: string;
  readonly clock: Clock;
  /** How far the machine's clock is ahead of `clock`, in milliseconds. */
  readonly skewMs: () => number;
  readonly random: Random;
  /** By default the library's own. */
  readonly argon2: Argon2 | undefined;
  /** How long the test processor pauses; its own default when undefined. */
  readonly processorPauseMs: number | undefined;
  /** The time limit of a request; the server's default when undefined. */
  readonly deadlineMs: number | undefined;
  readonly logger: Logger;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
  /** The address on which this process listens, regardless of any proxy; known once it does. */
  readonly localUrl: () => string;
}

export type Foundation = Awaited<ReturnType<typeof composeFoundation>>;

/** The basis of every other group: a migrated database, keys, and services without dependencies on others. */
export async function composeFoundation(surroundings: Environment) {
  const { config, database, broker, networks, clock, random, argon2, logger, baseUrl, webUrl } = surroundings;
  const { knex, pool, listen, inOneTransaction } = database;
  await database.withStatementTimeout(0, async (patient) => {
    await migrate(patient.knex);
    await installJobs(patient.knex, logger);
  });

  const masterKeys = config.masterKeys ?? [
    await loadOrCreateMasterKey(config.dataDir, random, !(await hasKeys(knex))),
  ];
  const keyring = createKeyring(masterKeys, random);
  const keys = await loadKeys({ knex, keyring, clock, random });
  const newId = createNewId(clock, random);
  const audit = createAudit({ knex, clock, newId });
  const signingKeys = await loadSigningKeys({ knex, listen, keyring, audit, clock, random, logger });
  const { eventDays } = config;
  const events = createEvents({
    ...surroundings,
    knex,
    pool,
    newId,
    audit,
    eventDays,
    hasBroker: !broker.embedded,
  });
  const cluster = createCluster({ ...surroundings, knex, pool });
  return {
    ...surroundings,
    ...(await openProcessor(surroundings, keys)),
    knex,
    pool,
    keyring,
    keys,
    adminTokens: await adminTokens(config, random),
    newId,
    jobs: createJobs({ knex, listen, logger }),
    audit,
    signingKeys,
    addresses: createAddresses(baseUrl, webUrl),
    tokens: createTokens(keys, signingKeys, random, baseUrl),
    passwords: await createPasswords(argon2),
    metrics: createMetrics(),
    lastUses: createLastUses({ clock, logger }),
    limits: createLimits(knex, config.rateLimit, surroundings.skewMs),
    vpn: createVpn(networks),
    bulk: createBulk(knex),
    events,
    idempotency: createIdempotency({ ...surroundings, knex, keyring, inOneTransaction }),
    cluster,
    health: createHealth({ ...surroundings, events, cluster }),
  };
}

/** Without a setting, an installation with its data on this machine creates a token. */
async function adminTokens({ adminTokens: given, databaseUrl, dataDir }: Config, random: Random) {
  if (given) return given;
  return databaseUrl === undefined ? [await loadOrCreateAdminToken(dataDir, random)] : [];
}

/** Opens the payment processor. The account of the embedded one is derived from the keys of the installation. */
async function openProcessor(surroundings: Environment, { testPayments }: Keys) {
  const { config, database, localUrl, logger } = surroundings;
  const processor = await openPayments({
    ...surroundings,
    ...database,
    stripe: config.stripe,
    account: `acct_test_${testPayments.id}`,
    signingSecret: testPayments.bytes,
    notifyUrl: () => `${localUrl()}/api/v2/payments/webhook`,
  });
  if (processor.payments.processor === 'test' && config.baseUrl !== undefined) {
    logger.warn(
      'payments use the test processor: no money moves, and test cards pay for everything (set STRIPE_SECRET_KEY)',
    );
  }
  return processor;
}
