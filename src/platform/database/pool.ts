import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { createAbandoned } from './abandoned.ts';
import { DatabaseUnavailableError } from './errors.ts';
import { KEPT_BY_POOLERS, limitsFor, prepareSession, type Backend, type SessionSettings } from './session.ts';
import { typeParsers } from './type-parsers.ts';

const CONNECT_WITHIN_MS = 2_000;
const PROBE_WITHIN_MS = 1_000;
const PROBE_PAUSE_MS = 100;

const UNANSWERED = /^(Query read timeout|Connection terminated due to connection timeout|timeout expired)$/;

type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;

type PoolSettings = pg.PoolConfig & { readonly max: number };

/** What the sessions of a pool are. */
interface Sessions {
  readonly session: SessionSettings;
  /** Whether the sessions are a pooler's, whose backends do other things in the next moment. */
  readonly sharesBackends: boolean;
}

/**
 * A pool whose callers learn in time that the database is gone. A connection that did not answer is never used again.
 * Once the database has left one question unanswered, the pool fails at once, and asks by itself until it answers.
 */
class GuardedPool extends pg.Pool {
  readonly #settings: pg.PoolConfig;
  readonly #logger: Logger;
  /** Settles when it is known whether the database still answers. */
  #doubt: Promise<void> | undefined;
  #silent = false;

  constructor(settings: PoolSettings, { session, sharesBackends }: Sessions, logger: Logger) {
    const onError = (error: unknown) => this.#onError(error);
    const backends = new WeakMap<pg.ClientBase, Backend>();
    const abandoned = createAbandoned(settings, () => this.ending, logger);
    // Every way to ask, knex' too, ends in this method of the client.
    class GuardedClient extends pg.Client {
      override connect(callback?: any): any {
        // Those that were left are as many again: more would take the connections of others.
        if (callback && abandoned.count() >= settings.max) {
          setImmediate(callback, new DatabaseUnavailableError());
          return;
        }
        return super.connect(callback);
      }

      override query(...args: any[]): any {
        const ask = super.query as (...args: unknown[]) => unknown;
        const callback = args.at(-1) as Callback | unknown;
        if (typeof callback === 'function') {
          args[args.length - 1] = (error: Error | null | undefined, ...rest: unknown[]) => {
            if (error) this.#endIfUnanswered(error);
            (callback as Callback)(error, ...rest);
          };
          return ask.apply(this, args);
        }
        const answer = ask.apply(this, args);
        if (!(answer instanceof Promise)) return answer;
        return answer.catch((error: Error) => {
          this.#endIfUnanswered(error);
          throw error;
        });
      }

      #endIfUnanswered(error: Error): void {
        if (!UNANSWERED.test(error.message)) return;
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
    // Without a listener the loss of a connection in use would end the process; its query fails anyway.
    this.on('connect', (client) => client.on('error', () => {}));
    this.on('release', (_error, client) => {
      // A transaction that could not be ended must not become the next caller's.
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
    await this.#doubt;
    if (this.#silent) {
      // In a turn of its own: a caller that tries again and again must not stop the event loop.
      await turn();
      throw new DatabaseUnavailableError();
    }
    try {
      return await super.connect();
    } catch (error) {
      this.#onError(error);
      throw new DatabaseUnavailableError(error);
    }
  }

  /** One question may be held up by something else, our own process among them: only a second one without answer counts. */
  #onError(error: unknown): void {
    if (this.#doubt || this.#silent || this.ending || !UNANSWERED.test((error as Error).message)) return;
    this.#doubt = this.#probe().then((answered) => {
      this.#doubt = undefined;
      if (!answered) void this.#waitForAnswer();
    });
  }

  async #waitForAnswer(): Promise<void> {
    const since = Date.now();
    this.#silent = true;
    this.#logger.error('the database does not answer');
    while (!this.ending && !(await this.#probe())) await sleep(PROBE_PAUSE_MS);
    this.#silent = false;
    if (!this.ending) this.#logger.info({ ms: Date.now() - since }, 'the database answers again');
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
 * Makes a pool that answers or fails within its time.
 *
 * @param options.connection where the database is, as pg takes it
 * @param options.maxConnections how many connections it may open
 * @param options.statementTimeoutMs how long one statement may take; 0 for as long as it likes
 * @param options.settings of its sessions by name, beside the limits that follow from `statementTimeoutMs`
 * @param options.sharesBackends whether a pooler gives each transaction another backend
 */
export function createPool(options: {
  connection: pg.ClientConfig;
  maxConnections: number;
  statementTimeoutMs: number;
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
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      idleTimeoutMillis: 30_000,
      types: typeParsers,
      ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs }),
    },
    {
      // Of shared backends only what the pooler itself keeps for each client can be set.
      session: sharesBackends ? KEPT_BY_POOLERS : { ...options.settings, ...limitsFor(statementTimeoutMs) },
      sharesBackends,
    },
    options.logger,
  );
}
