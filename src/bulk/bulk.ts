import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import { tryLockExclusive } from '../platform/database/advisory-lock.ts';
import { createTurns } from './turns.ts';

/** Calls that change many rows: one at a time, and one a developer, so that the others' are never kept out by his. */
export interface Bulk {
  /**
   * Runs a call, of which the developer has no other one in this process.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  admit<Result>(developerId: string, call: () => Promise<Result>): Promise<Result>;
  /** Runs the work of an admitted call when its turn has come. @throws ApiError TOO_MANY_REQUESTS */
  turn<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Runs work in a transaction of which the developer has no other one in any process, when it is the call's turn.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  alone<Result>(developerId: string, work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
  /** A turn of one such transaction. @throws ApiError TOO_MANY_REQUESTS */
  transaction<Result>(developerId: string, work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
}

/** What takes long shares this one of the process. */
export function createBulk(knex: Knex): Bulk {
  const turns = createTurns(knex);
  const admitted = new Set<string>();

  const alone: Bulk['alone'] = (developerId, work) =>
    knex.transaction(async (trx) => {
      if (!(await tryLockExclusive(trx, `bulk:${developerId}`))) throw busy();
      return work(trx);
    });

  return {
    async admit(developerId, call) {
      if (admitted.has(developerId)) throw busy();
      admitted.add(developerId);
      try {
        return await call();
      } finally {
        admitted.delete(developerId);
      }
    },

    turn: turns.take,

    alone,

    transaction: (developerId, work) => turns.take(() => alone(developerId, work)),
  };
}

function busy(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    detail: 'You have another bulk call under way.',
    retryAfter: 1,
  });
}
