import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { createAbandoned } from './abandoned.ts';
import { DatabaseUnavailableError } from './errors.ts';
import { KEPT_BY_POOLERS, limitsFor, prepareSession, type Backend, type SessionSettings } from './session.ts';
import { typeParsers } from './type-parsers.ts';

const PROBE_WITHIN_MS = 1_000;
const PROBE_PAUSE_MS = 100;

const TIMEOUT_MESSAGE =
  /^(Query read timeout|Connection terminated due to connection timeout|timeout expired)$/;

type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;

type PoolSettings = pg.PoolConfig & { readonly max: number };

/** The kind of sessions that a pool has. */
interface Sessions {
  readonly session: SessionSettings;
  /** Whether the sessions are those of a pooler, which assigns backends by transaction. */
  readonly sharesBackends: boolean;
}

/**
 * A pool whose callers fail fast when the database is lost. A connection that did not respond is never used again. Once
 * the database has not responded to a probe, the pool fails at once, and probes the database until it responds.
 */
class GuardedPool extends pg.Pool {
  readonly #settings: pg.PoolConfig;
  readonly #logger: Logger;
  /** Settles when it is known whether the database still responds. */
  #probing: Promise<void> | undefined;
  #silent = false;

  constructor(settings: PoolSettings, { session, sharesBackends }: Sessions, logger: Logger) {
    const onError = (error: unknown) => this.#onError(error);
    const backends = new WeakMap<pg.ClientBase, Backend>();
    const abandoned = createAbandoned(settings, () => this.ending, logger);
    // Every query, also of knex, ends in this method of the client.
    class GuardedClient extends pg.Client {
      override connect(callback?: any): any {
        // There are already as many abandoned sessions as connections; more would use up those of other clients.
        if (callback && abandoned.count() >= settings.max) {
          setImmediate(callback, new DatabaseUnavailableError());
          return;
        }
        return super.connect(callback);
      }

      override query(...args: any[]): any {
        const query = super.query as (...args: unknown[]) => unknown;
        const callback = args.at(-1) as Callback | unknown;
        if (typeof callback === 'function') {
          args[args.length - 1] = (error: Error | null | undefined, ...rest: unknown[]) => {
            if (error) this.#endIfUnresponsive(error);
            (callback as Callback)(error, ...rest);
          };
          return query.apply(this, args);
        }
        const result = query.apply(this, args);
        if (!(result instanceof Promise)) return result;
        return result.catch((error: Error) => {
          this.#endIfUnresponsive(error);
          throw error;
        });
      }

      #endIfUnresponsive(error: Error): void {
        if (!TIMEOUT_MESSAGE.test(error.message)) return;
        onError(error);
        const backend = backends.get(this);
        if (backend && backends.delete(this)) abandoned.add(backend);
        void this.end().catch(() => {});
      }
    }
    super({
      ...settings,
      Client: GuardedClient as unknown as new () => pg.ClientBase,
      onConnect: async (client: pg.ClientBase) => {
        const backend = await prepareSession(client, session);
        if (!sharesBackends) backends.set(client, backend);
      },
    } as pg.PoolConfig);
    this.#settings = settings;
    this.#logger = logger;

    this.on('error', (error) => logger.debug({ err: error }, 'an idle database connection was lost'));
    // Without a listener, losing a connection in use would end the process; its query fails anyway.
    this.on('connect', (client) => client.on('error', () => {}));
    this.on('release', (_error, client) => {
      // A transaction that could not be ended must not reach the next caller.
      const status = (client as { getTransactionStatus?: () => string | null }).getTransactionStatus?.();
      if (status === 'T' || status === 'E') void (client as pg.PoolClient & pg.Client).end().catch(() => {});
    });
  }

  override connect(callback?: any): any {
    const connected = this.#connectWhenUsable();
    if (callback === undefined) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error: unknown) => callback(error, undefined, () => {}),
    );
  }

  async #connectWhenUsable(): Promise<pg.PoolClient> {
    await this.#probing;
    if (this.#silent) {
      // In a separate iteration: a caller that retries in a loop must not block the event loop.
      await turn();
      throw new DatabaseUnavailableError();
    }
    try {
      return releasedWhenReady(await super.connect());
    } catch (error) {
      this.#onError(error);
      throw new DatabaseUnavailableError(error);
    }
  }

  /**
   * A single query may be delayed by other causes, such as this process itself: only a second one without a response
   * counts.
   */
  #onError(error: unknown): void {
    if (this.#probing || this.#silent || this.ending || !TIMEOUT_MESSAGE.test((error as Error).message))
      return;
    this.#probing = this.#probe().then((responded) => {
      this.#probing = undefined;
      if (!responded) void this.#waitUntilResponsive();
    });
  }

  async #waitUntilResponsive(): Promise<void> {
    const since = Date.now();
    this.#silent = true;
    this.#logger.error('the database does not respond');
    while (!this.ending && !(await this.#probe())) await sleep(PROBE_PAUSE_MS);
    this.#silent = false;
    if (!this.ending) this.#logger.info({ ms: Date.now() - since }, 'the database responds again');
  }

  async #probe(): Promise<boolean> {
    const client = new pg.Client({
      ...this.#settings,
      connectionTimeoutMillis: PROBE_WITHIN_MS,
      query_timeout: PROBE_WITHIN_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT 1');
      return true;
    } catch {
      return false;
    } finally {
      void client.end().catch(() => {});
    }
  }
}

/**
 * Makes the client return to its pool only when the server is ready for the next query. pg reports an error before
 * that, and the pool would judge the client by the state of the transaction before the failed query.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SIMPLE-QUERY
 */
function releasedWhenReady(client: pg.PoolClient): pg.PoolClient {
  const { release } = client;
  const state = client as unknown as ClientState;
  client.release = (destroy) => {
    if (destroy || state.readyForQuery || !state._queryable || state._ending || state._ended) {
      return release.call(client, destroy);
    }
    const onReady = () => {
      client.off('drain', onReady).off('end', onReady);
      release.call(client);
    };
    client.on('drain', onReady).on('end', onReady);
  };
  return client;
}

/** What pg keeps of a connection: whether the server awaits a query, and whether it is lost or closing. */
interface ClientState {
  readonly readyForQuery: boolean;
  readonly _queryable: boolean;
  readonly _ending: boolean;
  readonly _ended: boolean;
}

/**
 * Creates a pool that responds or fails within its time limit.
 *
 * @param options.connection the address of the database, in the form of pg
 * @param options.maxConnections the maximum number of connections
 * @param options.statementTimeoutMs the time limit of one statement; 0 for none
 * @param options.connectTimeoutMs the time limit of waiting for a connection and of opening one
 * @param options.settings of its sessions by name, in addition to the limits that follow from `statementTimeoutMs`
 * @param options.sharesBackends whether a pooler assigns each transaction another backend
 */
export function createPool(options: {
  connection: pg.ClientConfig;
  maxConnections: number;
  statementTimeoutMs: number;
  connectTimeoutMs: number;
  logger: Logger;
  settings: SessionSettings;
  sharesBackends: boolean;
}): pg.Pool {
  const { connection, statementTimeoutMs, sharesBackends } = options;
  return new GuardedPool(
    {
      application_name: 'latchkey',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      ...connection,
      max: options.maxConnections,
      connectionTimeoutMillis: options.connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      types: typeParsers,
      ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs }),
    },
    {
      // For shared backends, only the settings that the pooler keeps for each client can be set.
      session: sharesBackends ? KEPT_BY_POOLERS : { ...options.settings, ...limitsFor(statementTimeoutMs) },
      sharesBackends,
    },
    options.logger,
  );
}
