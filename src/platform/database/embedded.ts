import { spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Logger } from 'pino';
import { StartupError } from '../startup-error.ts';
import { chooseServerAccount } from './embedded-account.ts';
import { prepareAddress, type EmbeddedAddress } from './embedded-address.ts';
import { findPostgresBinaries } from './embedded-binaries.ts';
import { DATABASE_NAME, ensureCluster } from './embedded-cluster.ts';
import { createLauncher } from './embedded-launcher.ts';
import { serverLog } from './embedded-log.ts';
import { stopOrphan } from './embedded-orphan.ts';
import { supervise } from './embedded-supervisor.ts';
import { readPostmasterFile } from './postmaster-file.ts';

/** The address of the server, in the form of pg. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  database: string;
  password?: string;
}

export interface EmbeddedPostgres {
  readonly connection: EmbeddedConnection;
  /** Shuts the server down; committed data is on disk. */
  stop(): Promise<void>;
}

interface EmbeddedOptions {
  dataDir: string;
  logger: Logger;
  settings?: Record<string, string>;
}

/** A quarter of the memory, as PostgreSQL's documentation recommends. */
const LARGEST_BUFFERS_MB = 1024;

const SETTINGS: Record<string, string> = {
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
  // Containers have 64 MB of shared memory, which is too little for parallel plans.
  max_parallel_workers_per_gather: '0',
  // The service receives failed statements anyway; the log would fill the disk and contain their values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/**
 * Starts an embedded PostgreSQL on `<dataDir>/postgres`, which is created on first use, and keeps it running. The
 * caller holds the lock of the data folder.
 *
 * @param options.dataDir an existing folder
 * @param options.settings server settings by name, such as `{ fsync: 'off' }` in tests
 * @throws StartupError with the reason if it cannot run on this machine
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    return await start({ ...options, dataDir: realpathSync(options.dataDir) });
  } catch (error) {
    if (error instanceof StartupError || !(error instanceof Error && 'syscall' in error)) throw error;
    throw new StartupError(
      `Cannot run the embedded database in DATA_DIR (${options.dataDir}): ${error.message}; start Latchkey ` +
        'under the account that owns the folder, or set DATABASE_URL.',
      { cause: error },
    );
  }
}

async function start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { dataDir, logger } = options;
  const databaseDir = join(dataDir, 'postgres');
  const binaries = await findPostgresBinaries();
  const postgres = realpathSync(binaries.postgres);
  const account = chooseServerAccount(databaseDir);
  await stopOrphan(databaseDir, binaries.pg_ctl, logger);

  const address = await prepareAddress(dataDir, account);
  try {
    const reachable = process.platform === 'win32' ? [dataDir] : [dataDir, address.host];
    const launcher = createLauncher(account, postgres, reachable);
    if (launcher.elevatedBecause !== undefined)
      logger.info(
        { reason: launcher.elevatedBecause },
        'the database server runs with the capability CAP_DAC_OVERRIDE',
      );

    await ensureCluster({
      dataDir,
      databaseDir,
      initdb: realpathSync(binaries.initdb),
      launcher,
      account,
      durable: options.settings?.fsync !== 'off',
      passwordFile: address.passwordFile,
    });

    const settings = {
      ...SETTINGS,
      shared_buffers: sharedBuffers(),
      ...address.settings,
      ...options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const log = serverLog(join(dataDir, 'postgres.log'));
    const supervised = await supervise({
      launch: () => {
        const descriptor = log.open();
        try {
          return launcher.launch(postgres, ['-D', databaseDir, ...args], ['ignore', descriptor, descriptor]);
        } finally {
          closeSync(descriptor);
        }
      },
      isReady: (pid) => {
        const note = readPostmasterFile(databaseDir);
        return note?.pid === pid && note.ready;
      },
      requestStop: (child, how) => requestStop(child, how, databaseDir, binaries.pg_ctl),
      log,
      logger,
    });

    const connection = connectionTo(address);
    try {
      await ensureDatabase(connection);
    } catch (error) {
      await supervised.stop();
      const reason = (error as Error).message;
      throw new StartupError(`The embedded database did not start: ${reason} (see ${log.path})`, {
        cause: error,
      });
    }
    return {
      connection,
      stop: async () => {
        await supervised.stop();
        address.release();
      },
    };
  } catch (error) {
    address.release();
    throw error;
  }
}

function connectionTo({ host, port, password }: EmbeddedAddress): EmbeddedConnection {
  return { host, port, user: DATABASE_NAME, database: DATABASE_NAME, ...(password && { password }) };
}

function requestStop(
  child: ChildProcess,
  how: 'fast' | 'immediate',
  databaseDir: string,
  pgCtl: string,
): void {
  if (process.platform === 'win32') {
    spawnSync(pgCtl, ['stop', '-D', databaseDir, '-m', how, '-W'], { windowsHide: true });
  } else {
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
  }
}

async function ensureDatabase(connection: EmbeddedConnection): Promise<void> {
  try {
    await runStatement(connection, 'SELECT 1');
  } catch (error) {
    const missing = (error as { code?: string }).code === '3D000';
    if (!missing) throw error;
    await runStatement({ ...connection, database: 'postgres' }, `CREATE DATABASE ${DATABASE_NAME}`);
  }
}

async function runStatement(connection: EmbeddedConnection, statement: string): Promise<void> {
  const client = new pg.Client({ ...connection, ssl: false, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A share of the memory of the machine or the container. */
function sharedBuffers(): string {
  const megabytes = Math.min(totalmem(), process.constrainedMemory() || Infinity) / 2 ** 20;
  return `${Math.max(16, Math.min(LARGEST_BUFFERS_MB, Math.floor(megabytes / 4)))}MB`;
}
