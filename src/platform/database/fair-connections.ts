import type pg from 'pg';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { currentTenant, DeadlineExceededError, RequestScope } from '../request-scope.ts';
import { DatabaseUnavailableError } from './errors.ts';

/** A request that has waited so long for a connection is refused. */
const PATIENCE_MS = 2_000;
/** Of ten connections one tenant has at most eight: some are left for others, however many requests it sends. */
const SHARE = 0.8;
/** Work of the service's own takes turns with tenants as one of them. */
const OWN = '';

/** How knex begins a transaction. */
const BEGIN = 'BEGIN;';

/** Where knex gets its connections. */
export interface ConnectionSource {
  connect(): Promise<pg.PoolClient>;
  /** How many wait for a connection. */
  waiting(): number;
}

/**
 * Shares the connections of a pool between tenants: none of them has all connections, and those who wait take turns by
 * tenant. A request waits no longer than its deadline, and nothing is asked for it after that: its transaction is rolled back.
 * @param connections how many the pool opens at most
 * @param statementTimeoutMs how long one statement may take; 0 for as long as it likes
 */
export function shareConnections(
  pool: pg.Pool,
  connections: number,
  statementTimeoutMs: number,
): ConnectionSource {
  const limit = createConcurrencyLimit({
    atOnce: connections,
    ofOneAtOnce: Math.max(1, Math.floor(connections * SHARE)),
    patienceMs: PATIENCE_MS,
    refusal: () => new DatabaseUnavailableError(),
  });

  /** Clients that keep to the deadline. */
  const keeping = new WeakSet<pg.PoolClient>();

  return {
    waiting: () => limit.load().waiting,

    async connect() {
      const giveBack = await limit.acquire(currentTenant(OWN));
      try {
        const client = await pool.connect();
        const { query, release } = client;
        if (!keeping.has(client)) {
          keeping.add(client);
          client.query = keepDeadline(query.bind(client) as Query, statementTimeoutMs) as typeof query;
        }
        client.release = (destroy) => {
          giveBack();
          release.call(client, destroy);
        };
        return client;
      } catch (error) {
        giveBack();
        throw error;
      }
    },
  };
}

type Callback = (error: Error) => void;
type Query = (...args: unknown[]) => unknown;

/** @returns a `query` that asks nothing after the request's deadline, and gives a transaction no longer than until then */
function keepDeadline(query: Query, statementTimeoutMs: number): Query {
  return (...args) => {
    const remainingMs = RequestScope.current()?.remainingMs ?? Infinity;
    const [statement] = args;
    const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text;
    if (remainingMs <= 0 && !/^rollback/i.test(text ?? '')) return refuse(args.at(-1));
    if (text === BEGIN && remainingMs < statementTimeoutMs) {
      // In one go, because behind a slow network every round trip counts.
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
