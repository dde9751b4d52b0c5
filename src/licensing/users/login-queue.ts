import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { createConcurrencyLimit } from '../../platform/concurrency-limit.ts';
import { currentTenant } from '../../platform/request-scope.ts';

/**
 * Each login holds a connection while it waits for the lock of its user: most connections are left to other requests.
 */
const LIMIT = 6;
const LIMIT_PER_APPLICATION = 4;
/** The second one is ready when the first one is done; a third one would only wait for the lock of the user. */
const LIMIT_PER_ACCOUNT = 2;
/** Done within about a second. */
const QUEUE_PER_ACCOUNT = 32;
/** Done within about a second as well: logins of an application that are next in the queues of their accounts. */
const QUEUE_PER_APPLICATION = 128;
const MAX_WAIT_MS = 1_000;

/** Queues logins for each account separately, so that a flood on one account does not delay the others. */
export interface LoginQueue {
  /**
   * Refuses a login that would have to wait too long, before any work is done for it. Only logins with valid
   * credentials enter the queue, so that guessing passwords does not fill the queue of another user.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertCapacity(account: string): void;
  /** Runs a login. @throws ApiError TOO_MANY_REQUESTS after waiting too long */
  run<Result>(account: string, work: () => Promise<Result>): Promise<Result>;
}

export function createLoginQueue(clock: Clock): LoginQueue {
  const byAccount = createConcurrencyLimit({ limitPerKey: LIMIT_PER_ACCOUNT, refusal });
  const byApplication = createConcurrencyLimit({
    limit: LIMIT,
    limitPerKey: LIMIT_PER_APPLICATION,
    refusal,
  });
  const now = () => clock.now().getTime();

  return {
    assertCapacity(account) {
      const { running, waiting } = byAccount.load(account);
      const isFull = running + waiting >= QUEUE_PER_ACCOUNT;
      if (isFull || byApplication.load(currentTenant()).waiting >= QUEUE_PER_APPLICATION) throw refusal();
    },

    run(account, work) {
      const deadline = now() + MAX_WAIT_MS;
      const login = async () => {
        if (now() > deadline) throw refusal();
        return work();
      };
      return byAccount.run(account, () => byApplication.run(currentTenant(), login));
    },
  };
}

function refusal(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', { detail: 'Too many logins are waiting.', retryAfter: 1 });
}
