import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { DatabaseUnavailableError } from './errors.ts';
import { typeParsers } from './type-parsers.ts';

const CONNECT_WITHIN_MS = 2_000;
const PROBE_WITHIN_MS = 1_000;
const PROBE_PAUSE_MS = 100;
// By how much the server's own limit undercuts ours: a slow statement is cancelled there, only a silent server hits ours.
const SERVER_FIRST_MS = 100;
const IDLE_TRANSACTION_MS = 10_000;

const UNANSWERED = /^(Query read timeout|Connection terminated due to connection timeout|timeout expired)$/;

type Callback = (error: Error | null | undefined, ...rest: unknown[]) => void;

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

  constructor(settings: pg.PoolConfig, logger: Logger) {
    const onError = (error: unknown) => this.#onError(error);
    // Every way to ask, knex' too, ends in this method of the client.
    class GuardedClient extends pg.Client {
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
        void this.end().catch(() => {});
      }
    }
    super({ ...settings, Client: GuardedClient as unknown as new () => pg.ClientBase });
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
 * @param options.settings of its sessions by name, beside those that decide how values are written
 */
export function createPool(options: {
  connection: pg.PoolConfig;
  maxConnections: number;
  statementTimeoutMs: number;
  logger: Logger;
  settings?: Record<string, string> | undefined;
}): pg.Pool {
  const { statementTimeoutMs } = options;
  const settings = { TimeZone: 'UTC', DateStyle: 'ISO', ...options.settings };
  return new GuardedPool(
    {
      ...options.connection,
      max: options.maxConnections,
      application_name: 'latchkey',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      options: Object.entries(settings)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
      types: typeParsers,
      ...(statementTimeoutMs > 0 && {
        statement_timeout: Math.max(statementTimeoutMs - SERVER_FIRST_MS, 1),
        query_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: Math.max(IDLE_TRANSACTION_MS, statementTimeoutMs),
      }),
    },
    options.logger,
  );
}
