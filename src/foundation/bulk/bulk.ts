import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import { createConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import { takeAdvisoryLock, tryAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import { currentTenant } from '../../platform/request-scope.ts';

export { changeSelected, type BulkOutcome, type Refusals, type Selection } from './selection.ts';

/** How many wait while they hold a connection, besides the one that runs. */
const WAITING_IN_TRANSACTIONS = 2;
/** The operation that runs may take much longer, so a caller gets a refusal after this time and can retry. */
const MAX_WAIT_MS = 4_000;

/** Runs one step of an operation in a transaction of its own. */
export type Step = <Result>(work: (trx: Knex.Transaction) => Promise<Result>) => Promise<Result>;

/** Operations that change many rows: one at a time in this process, and one per developer. */
export interface Bulk {
  /**
   * Runs an operation unless the developer has another one in progress in this process.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  admit<Result>(developerId: string, operation: () => Promise<Result>): Promise<Result>;
  /** Queues the work of an admitted operation. @throws ApiError TOO_MANY_REQUESTS after waiting too long */
  enqueue<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Runs queued work in a transaction unless the developer has another one in progress in any process.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  exclusively<Result>(developerId: string, work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
  /** Queues such a transaction. @throws ApiError TOO_MANY_REQUESTS */
  transaction<Result>(developerId: string, work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
  /**
   * Admits and queues an operation of several transactions, unless the developer has another one in progress in any
   * process. Another process may run one between two steps; the next step waits until that one ends.
   * @throws ApiError TOO_MANY_REQUESTS before anything has changed
   */
  inSteps<Result>(developerId: string, operation: (step: Step) => Promise<Result>): Promise<Result>;
}

/**
 * @param knex in a transaction of its own for requests with an `Idempotency-Key`: those hold a connection
 *   while they wait
 */
export function createBulk(knex: Knex): Bulk {
  const admission = createConcurrencyLimit({ limitPerKey: 1, queuePerKey: 0, refusal: inProgress });
  const queue = createConcurrencyLimit({ limit: 1, maxWaitMs: MAX_WAIT_MS, refusal: queueFull });
  const inTransactions = createConcurrencyLimit({
    limit: 1 + WAITING_IN_TRANSACTIONS,
    queue: 0,
    refusal: queueFull,
  });

  const enqueue: Bulk['enqueue'] = (work) => {
    const run = () => queue.run(currentTenant(), work);
    return knex.isTransaction ? inTransactions.run(currentTenant(), run) : run();
  };

  const exclusively: Bulk['exclusively'] = (developerId, work) =>
    knex.transaction(async (trx) => {
      if (!(await tryAdvisoryLock(trx, lockOf(developerId)))) throw inProgress();
      return work(trx);
    });

  const inSteps: Bulk['inSteps'] = (developerId, operation) => {
    let hasBegun = false;
    const step: Step = (work) =>
      knex.transaction(async (trx) => {
        if (hasBegun) await takeAdvisoryLock(trx, lockOf(developerId));
        else if (!(await tryAdvisoryLock(trx, lockOf(developerId)))) throw inProgress();
        hasBegun = true;
        return work(trx);
      });
    return admission.run(developerId, () => enqueue(() => operation(step)));
  };

  return {
    admit: admission.run,
    enqueue,
    exclusively,
    inSteps,
    transaction: (developerId, work) => enqueue(() => exclusively(developerId, work)),
  };
}

/** The name of the lock of a developer's operations in all processes. */
function lockOf(developerId: string): string {
  return `bulk:${developerId}`;
}

function inProgress(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    detail: 'You have another bulk operation in progress.',
    retryAfter: 1,
  });
}

function queueFull(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    detail: 'Too many bulk operations are queued.',
    retryAfter: 1,
  });
}
