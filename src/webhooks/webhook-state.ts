import { errorOf, isSlow, isSuccess, retryAt, type Attempt } from '../dispatch/attempt-state.ts';

const DISABLED_AFTER_MS = 3 * 24 * 60 * 60 * 1_000;

export type DeliveryCause = 'event' | 'replay' | 'test';
export type DeliveryState = 'pending' | 'succeeded' | 'failed';

/**
 * What follows an attempt.
 * @param attempts how many there were, this one among them
 * @param chance from 0 to 1, unpredictable
 */
export function afterAttempt(
  delivery: { readonly cause: DeliveryCause; readonly attempts: number },
  attempt: Attempt,
  now: Date,
  chance: number,
): { readonly state: DeliveryState; readonly nextAttemptAt: Date | null } {
  if (isSuccess(attempt)) return { state: 'succeeded', nextAttemptAt: null };
  const isLast = delivery.cause === 'test' || attempt.status === 410;
  const nextAttemptAt = isLast ? null : retryAt(delivery.attempts, attempt, now, chance);
  return { state: nextAttemptAt ? 'pending' : 'failed', nextAttemptAt };
}

/** How an endpoint is doing. */
export interface Health {
  /** The first failure after the last success. */
  readonly failingSince: Date | null;
  /** Whether answers were slow, or did not come. */
  readonly slow: boolean;
}

/**
 * How an endpoint is doing after some attempts. Those of tests do not count.
 * @returns `disabledReason` when it is to be left alone from now on
 */
export function healthAfter(
  before: Health,
  attempts: readonly Attempt[],
  now: Date,
): Health & { readonly disabledReason: string | null } {
  if (attempts.length === 0) return { ...before, disabledReason: null };
  const slow = attempts.some(isSlow);
  if (attempts.some(({ status }) => status === 410)) {
    return { failingSince: before.failingSince ?? now, slow, disabledReason: 'It answered 410: gone.' };
  }
  if (attempts.some(isSuccess)) return { failingSince: null, slow, disabledReason: null };
  const failingSince = before.failingSince ?? now;
  const over = now.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS;
  const disabledReason = over ? `No delivery has succeeded for 3 days. ${errorOf(attempts[0]!)}` : null;
  return { failingSince, slow, disabledReason };
}
