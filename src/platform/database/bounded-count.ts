/** The largest number that is counted exactly. */
export const COUNTED_AT_MOST = 10_000;

/** How many rows a table has: counted up to a limit, and the database's estimate. */
export interface BoundedCount {
  /** At most one more than `COUNTED_AT_MOST`. */
  readonly counted: number;
  /** Negative or 0 for a table that was never analyzed. */
  readonly estimate: number;
}

export interface Count {
  readonly count: number;
  readonly estimated: boolean;
}

/** The exact number of few rows, or the estimate of many. */
export function toCount({ counted, estimate }: BoundedCount): Count {
  if (counted <= COUNTED_AT_MOST) return { count: counted, estimated: false };
  return { count: Math.max(counted, Math.round(estimate)), estimated: true };
}
