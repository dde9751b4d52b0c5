import type { Knex } from 'knex';
import pLimit from 'p-limit';
import { ApiError } from '../errors/api-error.ts';

/** Of those who wait for their turn with a connection in their hands, so many. */
const WAITING_IN_TRANSACTIONS = 2;

/** Work of which one piece is done at a time in this process, in the order of the calls. */
export interface Turns {
  /** @throws ApiError TOO_MANY_REQUESTS */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** @param knex whose transactions the work is in: with an `Idempotency-Key` one is open before the turn comes */
export function createTurns(knex: Knex): Turns {
  const limit = pLimit(1);
  let inTransactions = 0;

  return {
    async take(work) {
      if (!knex.isTransaction) return limit(work);
      // Everybody else needs the connections, too.
      if (inTransactions > WAITING_IN_TRANSACTIONS) {
        throw new ApiError('TOO_MANY_REQUESTS', {
          detail: 'Others wait for their turn with a call like this.',
          retryAfter: 1,
        });
      }
      inTransactions += 1;
      try {
        return await limit(work);
      } finally {
        inTransactions -= 1;
      }
    },
  };
}
