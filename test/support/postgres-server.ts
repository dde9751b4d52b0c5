import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/migrations/index.ts';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded.ts';
import { openDatabase } from '../../src/platform/database/index.ts';
import { installJobs } from '../../src/platform/jobs/index.ts';
import { createLogger } from '../../src/platform/logger.ts';

/** Where the tests' PostgreSQL listens. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresServer;
  }
}

export const TEMPLATE = 'latchkey_template';

/** The address of a database on the tests' server, as `DATABASE_URL` takes it. */
export function databaseUrl({ host, port, user }: PostgresServer, database: string): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user })}`;
}

/** Once a run: one real PostgreSQL, and a migrated database that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  const logger = createLogger('warn');
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '400',
  };
  const server = await startEmbeddedPostgres({ dataDir, logger, settings });
  const { host, port, user, database } = server.connection;

  const admin = new pg.Client({ host, port, user, database });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE}`);
  const template = await openDatabase({
    databaseUrl: databaseUrl({ host, port, user }, TEMPLATE),
    dataDir,
    logger,
  });
  await migrate(template.knex);
  await installJobs(template.knex, logger);
  await template.close();
  await admin.end();

  project.provide('postgres', { host, port, user });
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
