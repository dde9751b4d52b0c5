import { errorOf, isSlow, isSuccess, type AttemptResult } from '../delivery/attempt-state.ts';
import { retryAt, type RetrySchedule } from '../delivery/retry-state.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The delays that Standard Webhooks recommends: the last retry is 3 days after the first attempt. */
const RETRIES: RetrySchedule = {
  delaysMs: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  jitter: 0.1,
};
const DISABLED_AFTER_MS = 72 * HOUR_MS;

export type DeliveryCause = 'event' | 'replay' | 'test';
export type DeliveryState = 'pending' | 'succeeded' | 'failed';

/**
 * The state of a delivery after an attempt.
 * @param delivery `attempts` includes this one
 * @param chance unpredictable, from 0 to 1
 */
export function afterAttempt(
  delivery: { readonly cause: DeliveryCause; readonly attempts: number },
  result: AttemptResult,
  now: Date,
  chance: number,
): { readonly state: DeliveryState; readonly nextAttemptAt: Date | null } {
  if (isSuccess(result)) return { state: 'succeeded', nextAttemptAt: null };
  const isLast = delivery.cause === 'test' || result.status === 410;
  const nextAttemptAt = isLast ? null : retryAt(RETRIES, delivery.attempts, result, now, chance);
  return { state: nextAttemptAt ? 'pending' : 'failed', nextAttemptAt };
}

/** The health of an endpoint. */
export interface Health {
  /** The first failure after the last success. */
  readonly failingSince: Date | null;
  /** Whether responses were slow or missing. */
  readonly slow: boolean;
}

/**
 * The health of an endpoint after some attempts. Those of test deliveries do not count.
 * @returns `disabledReason` when the endpoint must receive no more requests
 */
export function healthAfter(
  before: Health,
  results: readonly AttemptResult[],
  now: Date,
): Health & { readonly disabledReason: string | null } {
  if (results.length === 0) return { ...before, disabledReason: null };
  const slow = results.some(isSlow);
  if (results.some(({ status }) => status === 410)) {
    const disabledReason = 'The endpoint responded with 410 Gone.';
    return { failingSince: before.failingSince ?? now, slow, disabledReason };
  }
  if (results.some(isSuccess)) return { failingSince: null, slow, disabledReason: null };
  const failingSince = before.failingSince ?? now;
  const hasFailedTooLong = now.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS;
  const disabledReason = hasFailedTooLong
    ? `No delivery has succeeded for 3 days. ${errorOf(results[0]!)}`
    : null;
  return { failingSince, slow, disabledReason };
}
