import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/platform/database/index.ts';
import { createLogger } from '../src/platform/logger.ts';
import { childrenOf, parentOf } from './process-cpu.ts';

/** The PostgreSQL server of the bench. */
export interface Postgres {
  readonly version: string;
  /** Makes an empty database. @returns its address, as `DATABASE_URL` takes it */
  createDatabase(name: string): Promise<string>;
  /** The processes of the server that run at this moment; empty where the system cannot list them. */
  processes(): number[];
  close(): Promise<void>;
}

/** Starts an embedded PostgreSQL with its usual settings in a temporary folder. */
export async function startPostgres(): Promise<Postgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  const removeFiles = () => rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  const database = await openDatabase({
    dataDir,
    logger: createLogger('warn'),
    statementTimeoutMs: 0,
    // It would run in some rounds and not in others.
    settings: { autovacuum: 'off' },
  }).catch(async (error: unknown) => {
    await removeFiles();
    throw error;
  });
  const { pool } = database;
  const { rows } = await pool.query<{ version: string; pid: number }>(
    `select current_setting('server_version') as version, pg_backend_pid() as pid`,
  );
  const { host, port, user, password } = pool.options;
  const access = { host, port: String(port), user, ...(password && { password: String(password) }) };
  const [{ version, pid }] = rows as [{ version: string; pid: number }];
  const server = parentOf(pid);
  return {
    version,
    async createDatabase(name) {
      await pool.query(`create database ${name}`);
      return `postgresql:///${name}?${new URLSearchParams(access as Record<string, string>)}`;
    },
    processes: () => (server === undefined ? [] : childrenOf(server)),
    async close() {
      await database.close();
      await removeFiles();
    },
  };
}
