import { mkdirSync } from 'node:fs';
import createKnex, { type Knex } from 'knex';
import type pg from 'pg';
import type { Logger } from 'pino';
import { StartupError } from '../startup-error.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { shareConnections, type ConnectionSource } from './fair-connections.ts';
import { inOneTransaction, joining } from './joining.ts';
import { listen, type Listener } from './listener.ts';
import { createPool } from './pool.ts';
import { checkServer, type Server } from './server.ts';
import { CHECK_INTERVAL, CHECKED_EVERY_MS, FORMAT, type SessionSettings } from './session.ts';
import { createStandbyWatch } from './standby.ts';

export { openDatabaseClock, SKEW_LIMIT_MS } from './database-clock.ts';
export { DataFolderInUseError } from './data-folder-lock.ts';
export { isLockedOut, isUnavailable, isUniqueViolation, isUnstorableInput, operatorFault } from './errors.ts';

const STATEMENT_TIMEOUT_MS = 2_000;
const MAX_CONNECTIONS = 10;
/** Two for batches of lookups, one for health checks. */
const OWN_CONNECTIONS = 3;
const CLOSE_WITHIN_MS = 3_000;
/**
 * Named statements find a few rows by their keys, whatever the tables hold: planned once for a connection, by index. Else
 * PostgreSQL plans small batches anew each time, which costs more than to run them.
 */
const KEYED = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};
/**
 * Pages are read from an index in its order. By the server's default, made for disks that turn, reading and sorting all that
 * an application has looks cheaper while the statistics do not know how much that is.
 */
const PAGED = { random_page_cost: '1.1' };

/** Two ways to ask the same database. */
export interface Queries {
  /** Joins the transaction of `inOneTransaction`, where the caller is inside of one. */
  readonly knex: Knex;
  /**
   * For named, prepared statements that must not wait behind anything else: `pool.query({ name, text, values })`. It has a few
   * connections of its own.
   */
  readonly pool: pg.Pool;
}

/** Connections of a pool, and who waits for one. */
export interface PoolLoad {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface Database extends Queries {
  /** Whether it is the one that Latchkey runs by itself. */
  readonly embedded: boolean;
  /** Runs work in a transaction that whatever the work asks of `knex` joins: all of it happens, or nothing. */
  inOneTransaction<T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T>;
  /** Hears notifications, on a connection of its own: see `listener.ts`. The caller closes it before the database. */
  listen(channels: readonly string[], onNotification: (channel: string, payload?: string) => void): Listener;
  /** How many connections there are, by state: those of knex, and the own ones of `pool`. */
  connections(): { readonly shared: PoolLoad; readonly own: PoolLoad };
  /** Resolves when the database answers; rejects within about 2 s otherwise. */
  ping(): Promise<void>;
  /** Whether commits wait in vain for a synchronous standby, or have until seconds ago. */
  awaitsStandby(): Promise<boolean>;
  /**
   * Runs work whose statements may take longer, such as migrations, on connections of its own that are closed after it.
   * @param statementTimeoutMs how long one statement may take; 0 for as long as it likes
   */
  withStatementTimeout<T>(statementTimeoutMs: number, work: (queries: Queries) => Promise<T>): Promise<T>;
  /** Ends the connections and the embedded server, and gives the data folder free. Calling it again does nothing more. */
  close(): Promise<void>;
}

/**
 * Opens the database: a PostgreSQL server by its address, else one of our own in the data folder.
 *
 * @param options.databaseUrl `postgresql://…`; undefined for the embedded one
 * @param options.directUrl where the server is past a pooler; undefined when `databaseUrl` leads to it
 * @param options.dataDir the data folder; created when missing, locked while the embedded one is open
 * @param options.maxConnections 10 unless told
 * @param options.statementTimeoutMs how long one statement may take, 2000 unless told; 0 for as long as it likes
 * @param options.settings server settings of the embedded one by name, such as `{ fsync: 'off' }` in tests
 * @throws DataFolderInUseError when another Latchkey has the data folder
 * @throws StartupError with one line on anything else that the operator can mend
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

  const open = (way: Way, connections: number, statementTimeoutMs: number): Connections => {
    const create = (maxConnections: number, settings: SessionSettings) =>
      createPool({
        ...way,
        maxConnections,
        statementTimeoutMs,
        logger,
        settings: { ...common, ...settings },
      });
    const shared = create(connections, PAGED);
    const source = shareConnections(shared, connections, statementTimeoutMs);
    const own = knexOver(source, logger);
    return { pool: create(OWN_CONNECTIONS, KEYED), shared, source, own, knex: joining(own) };
  };
  const direct: Way = { connection: place.direct, sharesBackends: false };
  const connections = open(place, maxConnections, timeoutMs);
  const { pool, knex } = connections;

  let closed: Promise<void> | undefined;
  return {
    knex,
    pool,
    embedded: databaseUrl === undefined,
    inOneTransaction: (work) => inOneTransaction(connections.own, work),
    listen: (channels, onNotification) => listen(place.direct, channels, onNotification),
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
  /** What knex draws from, by way of `source`. */
  readonly shared: pg.Pool;
  readonly source: ConnectionSource;
  /** The knex that joins nothing. */
  readonly own: Knex;
}

/** How sessions are come by. */
type Way = Pick<Server, 'connection' | 'sharesBackends'>;

interface Place extends Server {
  close(): Promise<void>;
}

async function openEmbedded(
  dataDir: string,
  logger: Logger,
  settings: Record<string, string> | undefined,
): Promise<Place> {
  try {
    // Others may pass through, not look: the server runs under another account when we are root.
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
): Promise<Place> {
  return { ...(await checkServer(databaseUrl, directUrl, statementTimeoutMs)), close: async () => {} };
}

function knexOver(source: ConnectionSource, logger: Logger): Knex {
  return createKnex({
    client: 'pg',
    // All that knex asks of a pool is a connection.
    connectionPool: source as unknown as pg.Pool,
    // Spares a question to the server; knex only asks to know what syntax it may use.
    version: '14.0',
    // Or errors, and so the log, would hold the values of the statement.
    compileSqlOnError: false,
    log: {
      warn: (message: unknown) => logger.debug({ knex: message }, 'knex'),
      error: (message: unknown) => logger.error({ knex: message }, 'knex'),
      deprecate: (message: unknown) => logger.warn({ knex: message }, 'knex'),
      debug: (message: unknown) => logger.debug({ knex: message }, 'knex'),
    },
  });
}

/** Connections in use get a moment to come back; a hanging one must not keep the process. */
async function endWithin({ pool, shared, own }: Connections, ms: number): Promise<void> {
  await own.destroy();
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.all([pool.end(), shared.end()]),
    new Promise((resolve) => (timer = setTimeout(resolve, ms))),
  ]);
  clearTimeout(timer);
}
