import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { isUnavailable } from '../../platform/database/index.ts';
import { RequestScope } from '../../platform/request-scope.ts';
import { readSessionFacts, type SessionFacts } from './session-facts-store.ts';

export type { SessionFacts } from './session-facts-store.ts';

/** The two kinds of handles by which a client names its session. */
export type HandleKind = 'token' | 'session_id';

export interface SessionLookup {
  /**
   * Reads the session of a handle from the database as it is now.
   * @param digest SHA-256 of the handle
   * @returns undefined if the session does not exist, or its application is deleted
   */
  find(kind: HandleKind, digest: Buffer): Promise<SessionFacts | undefined>;
  /**
   * Reads many sessions in one statement, separately from the batches of `find`.
   * @param sessionDigests SHA-256 of the session ids
   * @returns the results in the order of the digests, as in `find`
   */
  findAll(sessionDigests: readonly Buffer[]): Promise<(SessionFacts | undefined)[]>;
}

const KEYS_A_BATCH = 64;
const CONNECTIONS = 2;

/** One handle and all requests for it. */
interface Lookup {
  readonly kind: HandleKind;
  readonly digest: Buffer;
  readonly waiters: PromiseWithResolvers<SessionFacts | undefined>[];
}

/**
 * Looks sessions up in batches: requests that arrive while a statement runs are combined into the next one. A statement
 * always starts after every request in it has arrived, so it never reads stale data.
 * @param observeBatch receives the number of handles of each statement
 */
export function createSessionLookup(
  pool: pg.Pool,
  observeBatch: (size: number) => void = () => {},
): SessionLookup {
  const waiting = new Map<string, Lookup>();
  let working = 0;

  function takeBatch(): Lookup[] {
    const batch: Lookup[] = [];
    for (const [key, lookup] of waiting) {
      if (batch.length === KEYS_A_BATCH) break;
      waiting.delete(key);
      batch.push(lookup);
    }
    return batch;
  }

  /** A second connection is used only for what exceeds the next batch of the first: two halves cost more than one. */
  function schedule(): void {
    if (working >= CONNECTIONS || waiting.size <= working * KEYS_A_BATCH) return;
    working += 1;
    // It continues as long as requests arrive.
    void RequestScope.outside(work).finally(() => {
      working -= 1;
      schedule();
    });
  }

  /** Collects requests that arrive together: as long as each iteration of the event loop adds some, up to a batch. */
  async function gatherBatch(): Promise<void> {
    let gathered: number;
    do {
      gathered = waiting.size;
      await turn();
    } while (waiting.size > gathered && waiting.size < KEYS_A_BATCH);
  }

  /** Processes batch after batch over one connection, and releases it when no request waits. */
  async function work(): Promise<void> {
    let client: pg.PoolClient | undefined;
    let batch: Lookup[] = [];
    try {
      client = await pool.connect();
      while (waiting.size > 0) {
        await gatherBatch();
        batch = takeBatch();
        if (batch.length === 0) continue;
        observeBatch(batch.length);
        await readBatch(client, batch);
      }
      client.release();
    } catch (error) {
      client?.release(true);
      for (const lookup of batch) reject(lookup, error);
      // Requests that have waited this long for an unresponsive database must not wait for a second failure.
      if (client === undefined || isUnavailable(error)) rejectWaiting(error);
    }
  }

  function rejectWaiting(error: unknown): void {
    for (const lookup of waiting.values()) reject(lookup, error);
    waiting.clear();
  }

  return {
    find(kind, digest) {
      const key = kind + digest.toString('latin1');
      const lookup = waiting.get(key) ?? { kind, digest, waiters: [] };
      const waiter = Promise.withResolvers<SessionFacts | undefined>();
      lookup.waiters.push(waiter);
      waiting.set(key, lookup);
      schedule();
      return waiter.promise;
    },

    async findAll(sessionDigests) {
      const client = await pool.connect();
      try {
        const { bySessionId } = await readSessionFacts(client, [], sessionDigests);
        client.release();
        return bySessionId;
      } catch (error) {
        client.release(true);
        throw error;
      }
    },
  };
}

async function readBatch(client: pg.PoolClient, batch: readonly Lookup[]): Promise<void> {
  const tokens = batch.filter(({ kind }) => kind === 'token');
  const sessionIds = batch.filter(({ kind }) => kind === 'session_id');
  const digests = (lookups: readonly Lookup[]) => lookups.map(({ digest }) => digest);
  const { byToken, bySessionId } = await readSessionFacts(client, digests(tokens), digests(sessionIds));
  tokens.forEach((lookup, index) => resolve(lookup, byToken[index]));
  sessionIds.forEach((lookup, index) => resolve(lookup, bySessionId[index]));
}

function resolve(lookup: Lookup, facts: SessionFacts | undefined): void {
  for (const waiter of lookup.waiters) waiter.resolve(facts);
}

function reject(lookup: Lookup, error: unknown): void {
  for (const waiter of lookup.waiters) waiter.reject(error);
}
