import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import { createConcurrencyLimit } from '../platform/concurrency-limit.ts';
import { currentTenant } from '../platform/request-scope.ts';

/** Of those who wait for their turn with a connection in their hands, so many. */
const WAITING_IN_TRANSACTIONS = 2;
/** A call before may take much longer: a caller that has waited that long retries. */
const PATIENCE_MS = 4_000;

/** Work of which one piece is done at a time in this process, in the order of the calls. */
export interface Turns {
  /** @throws ApiError TOO_MANY_REQUESTS when others are at work for too long */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** @param knex whose transactions the work is in: with an `Idempotency-Key` one is open before the turn comes */
export function createTurns(knex: Knex): Turns {
  const limit = createConcurrencyLimit({ atOnce: 1, patienceMs: PATIENCE_MS, refusal });
  let inTransactions = 0;

  const run = <Result>(work: () => Promise<Result>) => limit.run(currentTenant(), work);

  return {
    async take(work) {
      if (!knex.isTransaction) return run(work);
      // Everybody else needs the connections, too.
      if (inTransactions > WAITING_IN_TRANSACTIONS) throw refusal();
      inTransactions += 1;
      try {
        return await run(work);
      } finally {
        inTransactions -= 1;
      }
    },
  };
}

function refusal(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    detail: 'Others wait for their turn with a call like this.',
    retryAfter: 1,
  });
}
