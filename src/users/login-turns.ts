import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import { createConcurrencyLimit } from '../platform/concurrency-limit.ts';
import { currentTenant } from '../platform/request-scope.ts';

/**
 * Sessions of one user begin one after the other, and each holds a connection while it waits for the one before: most
 * connections are left to everybody else.
 */
const BEGUN_AT_ONCE = 6;
/** Of one application: the rest is left to others, whose logins wait for each other alone. */
const OF_APPLICATION_AT_ONCE = 4;
/** The next one is ready when the one before is done, and the other turns are for other users. */
const OF_ONE_AT_ONCE = 2;
/** Done within about a second. */
const OF_ONE = 32;
/** The same, of those of an application who are next in their lines. */
const OF_APPLICATION = 128;
const PATIENCE_MS = 1_000;

/** The turns in which sessions begin. Each account has a line of its own: a storm on one does not keep the others waiting. */
export interface LoginTurns {
  /**
   * Asked before anything is done for a login that would have to wait too long. Only logins that were right so far stand in
   * a line: nobody fills that of somebody else by guessing.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertRoom(account: string): void;
  /** @throws ApiError TOO_MANY_REQUESTS when it has waited too long */
  take<Result>(account: string, work: () => Promise<Result>): Promise<Result>;
}

export function createLoginTurns(clock: Clock): LoginTurns {
  const lines = createConcurrencyLimit({ atOnce: Infinity, ofOneAtOnce: OF_ONE_AT_ONCE, refusal });
  const limit = createConcurrencyLimit({
    atOnce: BEGUN_AT_ONCE,
    ofOneAtOnce: OF_APPLICATION_AT_ONCE,
    refusal,
  });
  const now = () => clock.now().getTime();

  return {
    assertRoom(account) {
      const { running, waiting } = lines.load(account);
      if (running + waiting >= OF_ONE || limit.load(currentTenant()).waiting >= OF_APPLICATION)
        throw refusal();
    },

    take(account, work) {
      const latest = now() + PATIENCE_MS;
      const turn = async () => {
        if (now() > latest) throw refusal();
        return work();
      };
      return lines.run(account, () => limit.run(currentTenant(), turn));
    },
  };
}

function refusal(): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', { detail: 'Too many logins are waiting.', retryAfter: 1 });
}
