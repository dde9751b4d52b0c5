import type { Knex } from 'knex';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

const TABLE = 'rate_limits';

/**
 * Counts in the database, one statement a count: exact on any number of nodes. Whoever is above the limit is refused from
 * memory until the window ends.
 * @param name sets the keys of one counter apart from those of another
 */
export function createCounter(
  knex: Knex,
  name: string,
  window: { readonly requests: number; readonly seconds: number },
): RateLimiterPostgres {
  return new RateLimiterPostgres({
    storeClient: knex,
    storeType: 'knex',
    tableName: TABLE,
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix: name,
    points: window.requests,
    duration: window.seconds,
    inMemoryBlockOnConsumed: window.requests,
  });
}

/** The windows are those of the nodes' clocks, which may be behind that of the database. */
const ENDED = `expire < extract(epoch from now() - interval '1 minute') * 1000`;

/** Deletes windows that have ended. @returns how many */
export async function clearExpired(db: Knex, limit: number): Promise<number> {
  const some = db(TABLE).whereRaw(ENDED).limit(limit).select('key');
  // Asked twice, because a window may begin anew while its row is waited for.
  return db(TABLE).whereIn('key', some).whereRaw(ENDED).delete();
}
