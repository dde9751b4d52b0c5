import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Document } from 'openapi-backend';
import { handlers } from '../handlers/index.ts';
import { createApiTokens } from './api-tokens/api-tokens.ts';
import { createApplications } from './applications/applications.ts';
import { createAudit } from './audit/audit.ts';
import { createBans } from './bans/bans.ts';
import { createBulk } from './bulk/bulk.ts';
import { createCluster } from './cluster/cluster.ts';
import type { Config } from './config.ts';
import { createDevelopers } from './developers/developers.ts';
import { createEvents } from './events/events.ts';
import { createFiles } from './files/files.ts';
import { createHealth } from './health/health.ts';
import { bindContract } from './http/contract.ts';
import { createHttpServer } from './http/server.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { hasKeys, loadKeys } from './keys/keys.ts';
import { createKeySafe } from './licenses/license.ts';
import { createLicenses } from './licenses/licenses.ts';
import { createResellerLicenses } from './licenses/reseller-licenses.ts';
import { createLimits } from './limits/limits.ts';
import { createMetrics } from './metrics/metrics.ts';
import { migrate } from './migrations/index.ts';
import { createModeration } from './moderation/moderation.ts';
import { createPasswords } from './passwords/passwords.ts';
import { createPlans } from './plans/plans.ts';
import type { AnonymousNetworks } from './platform/anonymous-networks/index.ts';
import type { Blobs } from './platform/blobs/index.ts';
import type { Broker } from './platform/broker/index.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/index.ts';
import { createNewId } from './platform/ids.ts';
import { createJobs, installJobs } from './platform/jobs/index.ts';
import { createKeyring } from './platform/keyring.ts';
import type { Logger } from './platform/logger.ts';
import { loadOrCreateMasterKey } from './platform/master-key.ts';
import type { MqttServer } from './platform/mqtt/index.ts';
import { createOutboundHttp } from './platform/outbound-http/index.ts';
import type { Random } from './platform/random.ts';
import { createRealtime } from './realtime/realtime.ts';
import { createBrokerFeed } from './relay/broker-feed.ts';
import { createRelay } from './relay/relay.ts';
import { createLedger } from './resellers/ledger.ts';
import { createResellerAccount } from './resellers/reseller-account.ts';
import { createResellers } from './resellers/resellers.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import type { Services } from './services.ts';
import { createSessionLookup } from './sessions/session-lookup.ts';
import { createSessions } from './sessions/sessions.ts';
import { createSignatures } from './signatures/signatures.ts';
import { createStatistics } from './statistics/statistics.ts';
import { createTokens } from './tokens/tokens.ts';
import { createCredentials } from './users/credentials.ts';
import { createHwidResets } from './users/hwid-resets.ts';
import { createLogins } from './users/logins.ts';
import { createUsers, type Users } from './users/users.ts';
import { createUserDirectory } from './users/user-directory.ts';
import { createUserImports } from './users/user-imports.ts';
import { createUserManagement } from './users/user-management.ts';
import { createVariables } from './variables/variables.ts';
import { createVpn } from './vpn/vpn.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

export interface Composition {
  readonly services: Services;
  readonly server: Server;
}

interface Surroundings {
  readonly config: Config;
  readonly database: Database;
  readonly broker: Broker;
  readonly blobs: Blobs;
  readonly mqtt: MqttServer;
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
  const { config, database, broker, blobs, mqtt, networks, nodeId, clock, random, logger, baseUrl, webUrl } =
    surroundings;
  const { knex, pool, inOneTransaction } = database;
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
  const tokens = createTokens(keys, random, baseUrl);
  const passwords = await createPasswords();
  const metrics = createMetrics();
  const limits = createLimits(knex, config.rateLimit);
  const vpn = createVpn(networks);

  const audit = createAudit({ knex, clock, newId });
  const events = createEvents({
    knex,
    audit,
    clock,
    newId,
    eventDays: config.eventDays,
    hasBroker: !broker.embedded,
  });
  const developers = createDevelopers({ knex, passwords, limits, tokens, audit, clock, newId });
  const applications = createApplications({ knex, developers, events, vpn, keyring, clock, random, newId });
  const signatures = createSignatures({ knex, applications, clock, nonceDays: config.nonceDays });
  const bans = createBans({ knex, applications, clock, newId });
  const bulk = createBulk(knex);
  const licenses = createLicenses({
    knex,
    applications,
    bulk,
    // Users know licences, who ask of them who holds one.
    holders: {
      find: (...user) => users.find(...user),
      forgetLicense: (...license) => users.forgetLicense(...license),
    },
    events,
    keys,
    keyring,
    clock,
    random,
    newId,
  });
  const lookup = createSessionLookup(pool, metrics.observeBatch);
  const sessions = createSessions({
    knex,
    lookup,
    events,
    bans,
    vpn,
    tokens,
    keys,
    clock,
    random,
    keyring,
    keepIds: !broker.embedded,
  });
  const statistics = createStatistics({ knex, applications, sessions, clock });
  const screening = { bans, vpn };
  const users: Users = createUsers({
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
  const credentials = createCredentials({ knex, passwords, limits });
  const webhooks = createWebhooks({
    knex,
    applications,
    events,
    audit,
    jobs: createJobs({ knex, listen: database.listen, logger }),
    outbound: createOutboundHttp({ networks: config.webhookNetworks }),
    keyring,
    clock,
    random,
    newId,
    logger,
  });
  const cluster = createCluster({ knex, pool, clock, logger, nodeId });
  const relay = createRelay({
    events,
    listen: database.listen,
    consumers: [statistics.count, webhooks.enqueue],
    logger,
  });
  const realtime = createRealtime({
    applications,
    sessions,
    bans,
    events,
    relay,
    mqtt,
    capacity: config.maxEventClients,
    clock,
    logger,
  });
  metrics.watch({ database, passwords, limits });
  const apiTokens = createApiTokens({ knex, audit, clock, random, newId });
  const ledger = createLedger({ knex, audit, clock, newId });
  metrics.watchEvents({ events, realtime });
  const services: Services = {
    apiTokens,
    applications,
    audit,
    brokerFeed: broker.embedded ? undefined : createBrokerFeed({ events, sessions, relay, broker, logger }),
    cluster,
    developers,
    files: createFiles({ knex, applications, events, blobs, clock, newId }),
    events,
    health: createHealth({ database, broker, cluster, clock }),
    hwidResets: createHwidResets({
      knex,
      applications,
      events,
      sessions,
      passwords,
      credentials,
      ...screening,
      clock,
    }),
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
      credentials,
      limits,
      ...screening,
      keys,
      clock,
      newId,
    }),
    metrics,
    moderation: createModeration({
      knex,
      applications,
      bans,
      events,
      licenses,
      users,
      sessions,
      keys,
      clock,
    }),
    plans: createPlans(knex),
    resellerAccount: createResellerAccount({
      knex,
      applications,
      licenses,
      resellerLicenses: createResellerLicenses({
        knex,
        events,
        safe: createKeySafe({ keys, keyring, newId }),
      }),
      users,
      ledger,
      clock,
    }),
    resellers: createResellers({ knex, apiTokens, audit, ledger, clock, newId }),
    realtime,
    relay,
    sandbox: createSandbox(tokens, keys, clock),
    sessions,
    signatures,
    statistics,
    userDirectory: createUserDirectory({ knex, applications, sessions, bans, clock }),
    userImports: createUserImports({ applications, bulk, events, clock, newId }),
    userManagement: createUserManagement({
      knex,
      applications,
      licenses,
      events,
      audit,
      sessions,
      passwords,
      bans,
      bulk,
      clock,
      newId,
    }),
    users,
    variables: createVariables({ knex, applications, users, events, clock, newId }),
    vpn,
    webhooks,
  };

  const document = JSON.parse(
    await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8'),
  ) as Document;
  limitUploads(document, config.fileMaxBytes);
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

/** The contract says how large a file may be unless the configuration does. */
function limitUploads(document: Document, bytes: number): void {
  const { put } = document.paths!['/api/v2/dev/apps/{app_id}/files/{file_name}']!;
  Object.assign(put!, { 'x-max-bytes': bytes });
}
