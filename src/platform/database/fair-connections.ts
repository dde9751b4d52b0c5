import type pg from 'pg';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { currentTenant, DeadlineExceededError, RequestScope } from '../request-scope.ts';
import { DatabaseUnavailableError } from './errors.ts';

/** One tenant uses at most this share of the connections, however many requests it sends. */
const SHARE_PER_TENANT = 0.8;
/** The service's own work counts as one tenant. */
const SERVICE = '';

/** The statement with which knex begins a transaction. */
const BEGIN = 'BEGIN;';

/** The source of knex's connections. */
export interface ConnectionSource {
  connect(): Promise<pg.PoolClient>;
  /** How many wait for a connection. */
  waiting(): number;
}

/**
 * Shares the connections of a pool between tenants: none of them uses all connections, and waiting tenants alternate. A
 * request waits no longer than its deadline and sends no statement after it: its transaction is rolled back.
 * @param connections the maximum number of connections of the pool
 * @param statementTimeoutMs the time limit of one statement; 0 for none
 * @param maxWaitMs a request that waits longer for a connection is refused
 */
export function shareConnections(
  pool: pg.Pool,
  connections: number,
  { statementTimeoutMs, maxWaitMs }: { readonly statementTimeoutMs: number; readonly maxWaitMs: number },
): ConnectionSource {
  const limit = createConcurrencyLimit({
    limit: connections,
    limitPerKey: Math.max(1, Math.floor(connections * SHARE_PER_TENANT)),
    maxWaitMs,
    refusal: () => new DatabaseUnavailableError(),
  });

  /** Clients that respect the deadline. */
  const keeping = new WeakSet<pg.PoolClient>();

  return {
    waiting: () => limit.load().waiting,

    async connect() {
      const releaseSlot = await limit.acquire(currentTenant(SERVICE));
      try {
        const client = await pool.connect();
        const { query, release } = client;
        if (!keeping.has(client)) {
          keeping.add(client);
          client.query = keepDeadline(query.bind(client) as Query, statementTimeoutMs) as typeof query;
        }
        client.release = (destroy) => {
          releaseSlot();
          release.call(client, destroy);
        };
        return client;
      } catch (error) {
        releaseSlot();
        throw error;
      }
    },
  };
}

type Callback = (error: Error) => void;
type Query = (...args: unknown[]) => unknown;

/**
 * @returns a `query` that sends no statement after the request's deadline, and limits a transaction to that time
 */
function keepDeadline(query: Query, statementTimeoutMs: number): Query {
  return (...args) => {
    const remainingMs = RequestScope.current()?.remainingMs ?? Infinity;
    const [statement] = args;
    const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text;
    if (remainingMs <= 0 && !/^rollback/i.test(text ?? '')) return refuse(args.at(-1));
    if (text === BEGIN && remainingMs < statementTimeoutMs) {
      // In one message, because on a slow network every round trip counts.
      return query(`${BEGIN} SET LOCAL statement_timeout = ${Math.ceil(remainingMs)}`, ...args.slice(1));
    }
    return query(...args);
  };
}

function refuse(callback: unknown): Promise<never> | undefined {
  const error = new DeadlineExceededError();
  if (typeof callback !== 'function') return Promise.reject(error);
  process.nextTick(callback as Callback, error);
  return undefined;
}
