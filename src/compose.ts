import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Document } from 'openapi-backend';
import { handlers } from '../handlers/index.ts';
import { createApiTokens } from './api-tokens/api-tokens.ts';
import { createApplications } from './applications/applications.ts';
import { createAudit } from './audit/audit.ts';
import { createBans } from './bans/bans.ts';
import { createCluster } from './cluster/cluster.ts';
import type { Config } from './config.ts';
import { createDevelopers } from './developers/developers.ts';
import { createEvents } from './events/events.ts';
import { createHealth } from './health/health.ts';
import { bindContract } from './http/contract.ts';
import { createHttpServer } from './http/server.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { hasKeys, loadKeys } from './keys/keys.ts';
import { createLicenses } from './licenses/licenses.ts';
import { createLimits } from './limits/limits.ts';
import { createMetrics } from './metrics/metrics.ts';
import { migrate } from './migrations/index.ts';
import { createModeration } from './moderation/moderation.ts';
import { createPasswords } from './passwords/passwords.ts';
import { createPlans } from './plans/plans.ts';
import type { AnonymousNetworks } from './platform/anonymous-networks/index.ts';
import type { Broker } from './platform/broker/index.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/index.ts';
import { createNewId } from './platform/ids.ts';
import { createKeyring } from './platform/keyring.ts';
import type { Logger } from './platform/logger.ts';
import { loadOrCreateMasterKey } from './platform/master-key.ts';
import type { Random } from './platform/random.ts';
import { createRelay } from './relay/relay.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import type { Services } from './services.ts';
import { createSessionLookup } from './sessions/session-lookup.ts';
import { createSessions } from './sessions/sessions.ts';
import { createSignatures } from './signatures/signatures.ts';
import { createTokens } from './tokens/tokens.ts';
import { createLogins } from './users/logins.ts';
import { createUsers } from './users/users.ts';
import { createVpn } from './vpn/vpn.ts';

export interface Composition {
  readonly services: Services;
  readonly server: Server;
}

interface Surroundings {
  readonly config: Config;
  readonly database: Database;
  readonly broker: Broker;
  readonly networks: AnonymousNetworks;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
}

/** Constructs every service, on a migrated database. The only place that knows them all. */
export async function compose(surroundings: Surroundings): Promise<Composition> {
  const { config, database, broker, networks, nodeId, clock, random, logger, baseUrl, webUrl } = surroundings;
  const { knex, pool, inOneTransaction } = database;
  await database.withStatementTimeout(0, (patient) => migrate(patient.knex));

  const masterKeys = config.masterKeys ?? [
    await loadOrCreateMasterKey(config.dataDir, random, !(await hasKeys(knex))),
  ];
  const keyring = createKeyring(masterKeys, random);
  const keys = await loadKeys({ knex, keyring, clock, random });
  const newId = createNewId(clock, random);
  const tokens = createTokens(keys, random, baseUrl);
  const passwords = await createPasswords();
  const metrics = createMetrics();
  const limits = createLimits(knex, config.rateLimit);
  const vpn = createVpn(networks);

  const audit = createAudit({ knex, clock, newId });
  const events = createEvents({ knex, audit, clock, newId });
  const developers = createDevelopers({ knex, passwords, limits, tokens, clock, newId });
  const applications = createApplications({ knex, developers, events, vpn, keyring, clock, random, newId });
  const signatures = createSignatures({ knex, applications, clock, nonceDays: config.nonceDays });
  const bans = createBans({ knex, applications, clock, newId });
  const licenses = createLicenses({ knex, applications, events, keys, keyring, clock, random, newId });
  const lookup = createSessionLookup(pool, metrics.observeBatch);
  const sessions = createSessions({ knex, lookup, events, bans, vpn, tokens, keys, clock, random });
  const screening = { bans, vpn };
  const users = createUsers({
    knex,
    applications,
    licenses,
    events,
    sessions,
    passwords,
    ...screening,
    keys,
    clock,
    newId,
  });
  const cluster = createCluster({ knex, pool, clock, logger, nodeId });
  metrics.watch({ database, passwords, limits });
  const services: Services = {
    apiTokens: createApiTokens({ knex, audit, clock, random, newId }),
    applications,
    audit,
    cluster,
    developers,
    health: createHealth({ database, broker, cluster, clock }),
    idempotency: createIdempotency({ knex, inOneTransaction, keyring, clock }),
    licenses,
    limits,
    logins: createLogins({
      knex,
      applications,
      licenses,
      events,
      sessions,
      passwords,
      limits,
      ...screening,
      keys,
      clock,
      newId,
    }),
    metrics,
    moderation: createModeration({ knex, applications, bans, events, users, sessions, keys, clock }),
    plans: createPlans(knex),
    relay: createRelay({ events, listen: database.listen, consumers: [], logger }),
    sandbox: createSandbox(tokens, keys, clock),
    sessions,
    signatures,
    users,
    vpn,
  };

  const document = JSON.parse(
    await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8'),
  ) as Document;
  const contract = await bindContract(structuredClone(document), handlers, services);
  const contractDocument = () => ({
    ...document,
    servers: [{ url: baseUrl(), description: 'This server.' }],
  });
  const server = createHttpServer({
    contract,
    contractDocument,
    services,
    baseUrl,
    webUrl,
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    isPublic: config.baseUrl !== undefined || config.trustedProxies.length > 0,
    clock,
    random,
    logger,
  });
  return { services, server };
}
