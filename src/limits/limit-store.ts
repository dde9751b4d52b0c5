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

/** Deletes windows that have ended, by the database's clock. @returns how many */
export async function clearExpired(db: Knex, limit: number): Promise<number> {
  const ended = db(TABLE).whereRaw(`expire < extract(epoch from now()) * 1000`).limit(limit).select('key');
  return db(TABLE).whereIn('key', ended).delete();
}
