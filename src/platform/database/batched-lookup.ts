import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { RequestScope } from '../request-scope.ts';
import { isUnavailable } from './errors.ts';

/** Reads what a key names from the database as it is now; undefined if there is nothing. */
export type BatchedLookup<Key, Found> = (key: Key) => Promise<Found | undefined>;

/** What a lookup reads, and how. */
export interface LookupOptions<Key, Found> {
  readonly pool: pg.Pool;
  /** Equal for equal keys. */
  readonly textOf: (key: Key) => string;
  /** Reads all keys of a batch in one statement. @returns the results in their order */
  readonly read: (client: pg.ClientBase, keys: readonly Key[]) => Promise<(Found | undefined)[]>;
  /** Receives the number of keys of each statement. */
  readonly observeBatch?: ((size: number) => void) | undefined;
  /** How many connections it may use at a time; 1 by default. */
  readonly connections?: number;
}

const KEYS_A_BATCH = 64;

/** One key and all requests for it. */
interface Waiting<Key, Found> {
  readonly key: Key;
  readonly waiters: PromiseWithResolvers<Found | undefined>[];
}

/**
 * Looks rows up in batches: requests that arrive while a statement runs are combined into the next one. A statement
 * always starts after every request in it has arrived, so it never reads stale data.
 */
export function createBatchedLookup<Key, Found>({
  pool,
  textOf,
  read,
  observeBatch = () => {},
  connections = 1,
}: LookupOptions<Key, Found>): BatchedLookup<Key, Found> {
  const waiting = new Map<string, Waiting<Key, Found>>();
  let working = 0;

  function takeBatch(): Waiting<Key, Found>[] {
    const batch: Waiting<Key, Found>[] = [];
    for (const [text, lookup] of waiting) {
      if (batch.length === KEYS_A_BATCH) break;
      waiting.delete(text);
      batch.push(lookup);
    }
    return batch;
  }

  /** A second connection is used only for what exceeds the next batch of the first: two halves cost more than one. */
  function schedule(): void {
    if (working >= connections || waiting.size <= working * KEYS_A_BATCH) return;
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
    let batch: Waiting<Key, Found>[] = [];
    try {
      client = await pool.connect();
      while (waiting.size > 0) {
        await gatherBatch();
        batch = takeBatch();
        if (batch.length === 0) continue;
        observeBatch(batch.length);
        const found = await read(
          client,
          batch.map(({ key }) => key),
        );
        batch.forEach(({ waiters }, place) => {
          for (const waiter of waiters) waiter.resolve(found[place]);
        });
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

  return (key) => {
    const text = textOf(key);
    const lookup = waiting.get(text) ?? { key, waiters: [] };
    const waiter = Promise.withResolvers<Found | undefined>();
    lookup.waiters.push(waiter);
    waiting.set(text, lookup);
    schedule();
    return waiter.promise;
  };
}

function reject<Key, Found>(lookup: Waiting<Key, Found>, error: unknown): void {
  for (const waiter of lookup.waiters) waiter.reject(error);
}
