import type { Knex } from 'knex';
import { RateLimiterPostgres } from 'rate-limiter-flexible';

const TABLE = 'rate_limits';

/**
 * Counts in the database, one statement a count: exact on any number of nodes. Whoever is above the limit is refused from
 * memory until the window ends.
 * @param skewMs how far the machine's clock, which the library goes by, is ahead of the one that the rows are in
 * @param name sets the keys of one counter apart from those of another
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
  return inTimeOf(counter, skewMs);
}

interface Statement {
  readonly name?: string;
  readonly values?: readonly unknown[];
}

interface Rows {
  readonly rows: { readonly expire?: unknown }[];
}

/** Which of a statement's values are moments. */
const MOMENTS: Readonly<Record<string, readonly number[]>> = {
  'rlflx-upsert': [2, 3],
  'rlflx-upsert-force': [2, 3],
  'rlflx-get': [1],
};

/** The library only knows the machine's clock: what it writes and reads is moved to the common time. */
function inTimeOf(counter: RateLimiterPostgres, skewMs: () => number): RateLimiterPostgres {
  const asking = counter as unknown as { _query(statement: Statement): Promise<Rows> };
  const ask = asking._query.bind(counter);
  asking._query = async (statement) => {
    const skew = Math.round(skewMs());
    const moments = MOMENTS[statement.name ?? ''] ?? [];
    const values = statement.values?.map((value, place) =>
      moments.includes(place) && value !== null ? Number(value) - skew : value,
    );
    const answer = await ask({ ...statement, ...(values && { values }) });
    const rows = answer.rows?.map((row) =>
      row.expire == null ? row : { ...row, expire: Number(row.expire) + skew },
    );
    return { ...answer, rows };
  };
  return counter;
}

/** Nodes know the time of the database nearly, not exactly. */
const ENDED = `expire < extract(epoch from now() - interval '1 minute') * 1000`;

/** Deletes windows that have ended. @returns how many */
export async function clearExpired(db: Knex, limit: number): Promise<number> {
  const some = db(TABLE).whereRaw(ENDED).limit(limit).select('key');
  // Asked twice, because a window may begin anew while its row is waited for.
  return db(TABLE).whereIn('key', some).whereRaw(ENDED).delete();
}
