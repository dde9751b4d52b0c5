import { mkdirSync } from 'node:fs';
import createKnex, { type Knex } from 'knex';
import type pg from 'pg';
import type { Logger } from 'pino';
import { StartupError } from '../startup-error.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { shareConnections, type ConnectionSource } from './fair-connections.ts';
import { inOneTransaction, joining } from './joining.ts';
import { createListen, type Listen } from './listener.ts';
import { createPool } from './pool.ts';
import { checkServer, type Server } from './server.ts';
import { CHECK_INTERVAL, CHECKED_EVERY_MS, FORMAT, type SessionSettings } from './session.ts';
import { createStandbyWatch } from './standby.ts';

export { openDatabaseClock, SKEW_LIMIT_MS } from './database-clock.ts';
export { DataFolderInUseError } from './data-folder-lock.ts';
export { isLockedOut, isUnavailable, isUniqueViolation, isUnstorableInput, operatorFault } from './errors.ts';

const STATEMENT_TIMEOUT_MS = 2_000;
const MAX_CONNECTIONS = 10;
/** Two for batches of session lookups, one for health checks. */
const OWN_CONNECTIONS = 3;
const CLOSE_WITHIN_MS = 3_000;
/**
 * Named statements find a few rows by key for any size of the tables, so they are planned once for each connection, by
 * index. Otherwise PostgreSQL would plan small batches every time, which costs more than running them.
 */
const KEYED = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};
/**
 * Pages are read from an index in its order. With the server's default, which is meant for rotating disks, reading and
 * sorting all rows of an application seems cheaper as long as the statistics do not cover it.
 */
const PAGED = { random_page_cost: '1.1' };

/** Two interfaces to the same database. */
export interface Queries {
  /** Joins the transaction of `inOneTransaction` if the caller runs inside one. */
  readonly knex: Knex;
  /**
   * For named, prepared statements that must not wait behind anything else: `pool.query({ name, text, values })`. It
   * has a few connections of its own.
   */
  readonly pool: pg.Pool;
}

/** The connections of a pool, and the number of waiting callers. */
export interface PoolLoad {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface Database extends Queries {
  /** Whether the database is embedded. */
  readonly embedded: boolean;
  /** Runs work in one transaction, which all its statements on `knex` join: all of it happens, or nothing. */
  inOneTransaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Listens for notifications, on one connection for all listeners. The caller closes each before the database. */
  readonly listen: Listen;
  /** The number of connections by state: the shared ones of knex, and the separate ones of `pool`. */
  connections(): { readonly shared: PoolLoad; readonly own: PoolLoad };
  /** Resolves when the database responds; rejects within about 2 s otherwise. */
  ping(): Promise<void>;
  /** Whether commits wait for a synchronous standby that does not respond, or did so within the last seconds. */
  awaitsStandby(): Promise<boolean>;
  /**
   * Runs work whose statements may take longer, such as migrations, on temporary connections.
   * @param statementTimeoutMs the time limit of one statement; 0 for none
   */
  withStatementTimeout<T>(statementTimeoutMs: number, work: (queries: Queries) => Promise<T>): Promise<T>;
  /**
   * Ends the connections and the embedded server, and releases the data folder. Further calls have no effect.
   */
  close(): Promise<void>;
}

/**
 * Opens the database: a PostgreSQL server by its address, otherwise an embedded one in the data folder.
 *
 * @param options.databaseUrl `postgresql://…`; undefined for the embedded one
 * @param options.directUrl the direct address behind a pooler; undefined if `databaseUrl` is direct
 * @param options.dataDir the data folder; created if missing, locked while the embedded database is open
 * @param options.maxConnections 10 by default
 * @param options.statementTimeoutMs the time limit of one statement, 2000 by default; 0 for none. If longer than
 *   2000, also of waiting for a connection
 * @param options.settings server settings of the embedded one by name, such as `{ fsync: 'off' }` in tests
 * @throws DataFolderInUseError if another process uses the data folder
 * @throws StartupError one line about any other fault that the operator can fix
 */
export async function openDatabase(options: {
  databaseUrl?: string | undefined;
  directUrl?: string | undefined;
  dataDir: string;
  logger: Logger;
  maxConnections?: number;
  statementTimeoutMs?: number;
  settings?: Record<string, string>;
}): Promise<Database> {
  const { databaseUrl, logger, maxConnections = MAX_CONNECTIONS } = options;
  const { statementTimeoutMs: timeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const place =
    databaseUrl === undefined
      ? await openEmbedded(options.dataDir, logger, options.settings)
      : await openServer(databaseUrl, options.directUrl, timeoutMs);
  const common: SessionSettings = {
    ...FORMAT,
    ...(place.checksClients && { [CHECK_INTERVAL]: String(CHECKED_EVERY_MS) }),
  };

  const open = (way: ConnectionOptions, connections: number, statementTimeoutMs: number): Connections => {
    const maxWaitMs = Math.max(statementTimeoutMs, STATEMENT_TIMEOUT_MS);
    const create = (maxConnections: number, settings: SessionSettings) =>
      createPool({
        ...way,
        maxConnections,
        statementTimeoutMs,
        connectTimeoutMs: maxWaitMs,
        logger,
        settings: { ...common, ...settings },
      });
    const shared = create(connections, PAGED);
    const source = shareConnections(shared, connections, { statementTimeoutMs, maxWaitMs });
    const own = knexOver(source, logger);
    return { pool: create(OWN_CONNECTIONS, KEYED), shared, source, own, knex: joining(own) };
  };
  const direct: ConnectionOptions = { connection: place.direct, sharesBackends: false };
  const connections = open(place, maxConnections, timeoutMs);
  const { pool, knex } = connections;

  let closed: Promise<void> | undefined;
  return {
    knex,
    pool,
    embedded: databaseUrl === undefined,
    inOneTransaction: (work) => inOneTransaction(connections.own, work),
    listen: createListen(place.direct),
    connections: () => {
      const shared = loadOf(connections.shared);
      const waiting = shared.waiting + connections.source.waiting();
      return { shared: { ...shared, waiting }, own: loadOf(pool) };
    },
    ping: async () => void (await pool.query('SELECT 1')),
    awaitsStandby: createStandbyWatch(pool),
    withStatementTimeout: async (statementTimeoutMs, work) => {
      const patient = open(direct, 4, statementTimeoutMs);
      try {
        return await work(patient);
      } finally {
        await endWithin(patient, CLOSE_WITHIN_MS);
      }
    },
    close: () =>
      (closed ??= (async () => {
        await endWithin(connections, CLOSE_WITHIN_MS);
        await place.close();
      })()),
  };
}

function loadOf({ totalCount, idleCount, waitingCount }: pg.Pool): PoolLoad {
  return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

interface Connections extends Queries {
  /** The pool behind the `source` of knex. */
  readonly shared: pg.Pool;
  readonly source: ConnectionSource;
  /** The knex that does not join transactions. */
  readonly own: Knex;
}

/** How sessions are opened. */
type ConnectionOptions = Pick<Server, 'connection' | 'sharesBackends'>;

interface DatabaseServer extends Server {
  close(): Promise<void>;
}

async function openEmbedded(
  dataDir: string,
  logger: Logger,
  settings: Record<string, string> | undefined,
): Promise<DatabaseServer> {
  try {
    // Others may traverse the folder, not list it: the server runs under another account if this process is root.
    mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    throw new StartupError(`Cannot create the data folder of DATA_DIR: ${(error as Error).message}`);
  }
  const lock = lockDataFolder(dataDir);
  try {
    const server = await startEmbeddedPostgres({ dataDir, logger, ...(settings && { settings }) });
    const connection = { ...server.connection, ssl: false };
    return {
      connection,
      direct: connection,
      sharesBackends: false,
      checksClients: process.platform !== 'win32',
      close: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openServer(
  databaseUrl: string,
  directUrl: string | undefined,
  statementTimeoutMs: number,
): Promise<DatabaseServer> {
  return { ...(await checkServer(databaseUrl, directUrl, statementTimeoutMs)), close: async () => {} };
}

function knexOver(source: ConnectionSource, logger: Logger): Knex {
  return createKnex({
    client: 'pg',
    // knex uses nothing of a pool but its connections.
    connectionPool: source as unknown as pg.Pool,
    // Saves a query: knex needs the version only to choose its syntax.
    version: '14.0',
    // Otherwise errors, and so the log, would contain the values of the statement.
    compileSqlOnError: false,
    log: {
      warn: (message: unknown) => logger.debug({ knex: message }, 'knex'),
      error: (message: unknown) => logger.error({ knex: message }, 'knex'),
      deprecate: (message: unknown) => logger.warn({ knex: message }, 'knex'),
      debug: (message: unknown) => logger.debug({ knex: message }, 'knex'),
    },
  });
}

/** Connections in use have a moment to be released; a hanging one must not keep the process running. */
async function endWithin({ pool, shared, own }: Connections, ms: number): Promise<void> {
  await own.destroy();
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.all([pool.end(), shared.end()]),
    new Promise((resolve) => (timer = setTimeout(resolve, ms))),
  ]);
  clearTimeout(timer);
}
