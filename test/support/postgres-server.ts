import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/migrations/index.ts';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded.ts';
import { openDatabase } from '../../src/platform/database/index.ts';
import { installJobs } from '../../src/platform/jobs/index.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { START_FLAGS } from '../../tools/start-flags.ts';

/** The address of the tests' PostgreSQL server. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresServer;
    /** The folder of compiled modules for processes of the service. */
    compiled: string;
  }
}

export const TEMPLATE = 'latchkey_template';
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 6 * 2 ** 30;

/** The URL of a database on the tests' server, for `DATABASE_URL`. */
export function databaseUrl({ host, port, user }: PostgresServer, database: string): string {
  return `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user })}`;
}

/**
 * Runs once per test run: starts PostgreSQL, migrates a database that every test file copies, and compiles the modules
 * of the service.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await fastFolder();
  const compiled = join(dataDir, 'compiled');
  const compiling = compile(compiled);
  const logger = createLogger('warn');
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_wal_size: '256MB',
    max_connections: '400',
    wal_level: 'minimal',
    shared_buffers: '128MB',
    max_wal_senders: '0',
    // Its processes would visit hundreds of databases, of which each lives for seconds.
    autovacuum: 'off',
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
  await compiling;

  project.provide('postgres', { host, port, user });
  project.provide('compiled', compiled);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

/** Loads the service's modules once, so that Node caches their compilation. */
async function compile(folder: string): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  await promisify(execFile)(process.execPath, [...START_FLAGS, 'src/app/serve.ts'], {
    cwd: new URL('../..', import.meta.url),
    env: { PATH, HOME, NODE_COMPILE_CACHE: folder },
  });
}

/** A folder in memory if there is enough, because hundreds of databases are copied and dropped. */
async function fastFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return mkdtemp(join(bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir(), 'latchkey-test-'));
}
