import type { Knex } from 'knex';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

const TABLE = 'rate_limits';

/**
 * Counts in the database, with one statement per count, so that the count is exact on any number of nodes.
 * Above the limit, requests are refused from memory until the window ends.
 * @param skewMs how far the machine's clock, which the library uses, is ahead of the clock of the rows
 * @param name separates the keys of this counter from those of others
 */
export function createCounter(
  knex: Knex,
  skewMs: () => number,
  name: string,
  window: { readonly requests: number; readonly seconds: number },
): RateLimiterPostgres {
  const counter = new RateLimiterPostgres({
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
  return withSharedClock(counter, skewMs);
}

interface Statement {
  readonly name?: string;
  readonly values?: readonly unknown[];
}

interface Rows {
  readonly rows: { readonly expire?: unknown }[];
}

/** The positions of times among the values of a statement. */
const TIMES: Readonly<Record<string, readonly number[]>> = {
  'rlflx-upsert': [2, 3],
  'rlflx-upsert-force': [2, 3],
  'rlflx-get': [1],
};

/** The library only knows the machine's clock, so the times that it writes and reads are converted. */
function withSharedClock(counter: RateLimiterPostgres, skewMs: () => number): RateLimiterPostgres {
  const internals = counter as unknown as { _query(statement: Statement): Promise<Rows> };
  const query = internals._query.bind(counter);
  internals._query = async (statement) => {
    const skew = Math.round(skewMs());
    const times = TIMES[statement.name ?? ''] ?? [];
    const values = statement.values?.map((value, place) =>
      times.includes(place) && value !== null ? Number(value) - skew : value,
    );
    const result = await query({ ...statement, ...(values && { values }) });
    const rows = result.rows?.map((row) =>
      row.expire == null ? row : { ...row, expire: Number(row.expire) + skew },
    );
    return { ...result, rows };
  };
  return counter;
}

/** With a margin, because nodes know the time of the database only approximately. */
const ENDED = `expire < extract(epoch from now() - interval '1 minute') * 1000`;

/** Deletes windows that have ended. @returns how many */
export async function clearExpired(db: Knex, limit: number): Promise<number> {
  const some = db(TABLE).whereRaw(ENDED).limit(limit).select('key');
  // Checked twice, because a window may start again while the delete waits for its row.
  return db(TABLE).whereIn('key', some).whereRaw(ENDED).delete();
}
