import { createAddresses } from '../addresses/addresses.ts';
import { createAudit } from '../audit/audit.ts';
import { createBulk } from '../bulk/bulk.ts';
import type { Config } from '../config.ts';
import { hasKeys, loadKeys } from '../keys/keys.ts';
import { createLimits } from '../limits/limits.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { migrate } from '../migrations/index.ts';
import { createPasswords, type Argon2 } from '../passwords/passwords.ts';
import type { AnonymousNetworks } from '../platform/anonymous-networks/index.ts';
import type { Blobs } from '../platform/blobs/index.ts';
import type { Broker } from '../platform/broker/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/index.ts';
import { createNewId } from '../platform/ids.ts';
import { createJobs, installJobs } from '../platform/jobs/index.ts';
import { createKeyring } from '../platform/keyring.ts';
import type { Logger } from '../platform/logger.ts';
import { loadOrCreateAdminToken } from '../platform/admin-token.ts';
import { loadOrCreateMasterKey } from '../platform/master-key.ts';
import type { Mail } from '../platform/mail/index.ts';
import type { MqttServer } from '../platform/mqtt/index.ts';
import type { Random } from '../platform/random.ts';
import { loadSigningKeys } from '../signing-keys/signing-keys.ts';
import { createTokens } from '../tokens/tokens.ts';
import { createVpn } from '../vpn/vpn.ts';

/** What was opened before the services are constructed. */
export interface Surroundings {
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
  /** The library's own when undefined. */
  readonly argon2: Argon2 | undefined;
  /** How long the test processor rests; its own when undefined. */
  readonly processorPauseMs: number | undefined;
  /** How long a request may take; the server's own when undefined. */
  readonly deadlineMs: number | undefined;
  readonly logger: Logger;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
  /** Where this process itself listens, whatever is in front of it; known once it does. */
  readonly localUrl: () => string;
}

export type Foundation = Awaited<ReturnType<typeof composeFoundation>>;

/** What every other group stands on: a migrated database, keys, and the services that know no other one. */
export async function composeFoundation(surroundings: Surroundings) {
  const { config, database, networks, clock, random, argon2, logger, baseUrl, webUrl } = surroundings;
  const { knex, pool, listen } = database;
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
  return {
    ...surroundings,
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
    limits: createLimits(knex, config.rateLimit, surroundings.skewMs),
    vpn: createVpn(networks),
    bulk: createBulk(knex),
  };
}

/** Without a setting there is one where the data of this installation are on this machine. */
async function adminTokens({ adminTokens: given, databaseUrl, dataDir }: Config, random: Random) {
  if (given) return given;
  return databaseUrl === undefined ? [await loadOrCreateAdminToken(dataDir, random)] : [];
}
