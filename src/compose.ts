import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Document } from 'openapi-backend';
import { handlers } from '../handlers/index.ts';
import { createApplications } from './applications/applications.ts';
import type { Config } from './config.ts';
import { createDevelopers } from './developers/developers.ts';
import { createHealth } from './health/health.ts';
import { bindContract } from './http/contract.ts';
import { createHttpServer } from './http/server.ts';
import { hasKeys, loadKeys } from './keys/keys.ts';
import { createLicenses } from './licenses/licenses.ts';
import { migrate } from './migrations/index.ts';
import { createPasswords } from './passwords/passwords.ts';
import type { Clock } from './platform/clock.ts';
import type { Database } from './platform/database/index.ts';
import { createNewId } from './platform/ids.ts';
import { createKeyring } from './platform/keyring.ts';
import type { Logger } from './platform/logger.ts';
import { loadOrCreateMasterKey } from './platform/master-key.ts';
import type { Random } from './platform/random.ts';
import type { Services } from './services.ts';
import { createSessionLookup } from './sessions/session-lookup.ts';
import { createSessions } from './sessions/sessions.ts';
import { createTokens } from './tokens/tokens.ts';
import { createUsers } from './users/users.ts';

export interface Composition {
  readonly services: Services;
  readonly server: Server;
}

interface Surroundings {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Known once the server listens. */
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
}

/** Constructs every service, on a migrated database. The only place that knows them all. */
export async function compose(surroundings: Surroundings): Promise<Composition> {
  const { config, database, clock, random, logger, baseUrl, webUrl } = surroundings;
  const { knex, pool } = database;
  await database.withStatementTimeout(0, (patient) => migrate(patient.knex));

  const masterKeys = config.masterKeys ?? [
    await loadOrCreateMasterKey(config.dataDir, random, !(await hasKeys(knex))),
  ];
  const keyring = createKeyring(masterKeys, random);
  const keys = await loadKeys({ knex, keyring, clock, random });
  const newId = createNewId(clock, random);
  const tokens = createTokens(keys, random, baseUrl);
  const passwords = await createPasswords();

  const developers = createDevelopers({ knex, passwords, tokens, clock, newId });
  const applications = createApplications({ knex, developers, keyring, clock, random, newId });
  const licenses = createLicenses({ knex, applications, keys, keyring, clock, random, newId });
  const sessions = createSessions({ knex, lookup: createSessionLookup(pool), tokens, keys, clock, random });
  const users = createUsers({ knex, applications, licenses, sessions, passwords, keys, clock, newId });
  const services: Services = {
    applications,
    developers,
    health: createHealth(database, clock),
    licenses,
    sessions,
    users,
  };

  const document = JSON.parse(
    await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8'),
  ) as Document;
  const contract = await bindContract(structuredClone(document), handlers, services);
  const contractDocument = () => ({
    ...document,
    servers: [{ url: baseUrl(), description: 'This server.' }],
  });
  const server = createHttpServer({ contract, contractDocument, webUrl, clock, random, logger });
  return { services, server };
}
