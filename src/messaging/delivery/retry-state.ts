import type { AttemptResult } from './attempt-state.ts';

const SECOND_MS = 1_000;
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * SECOND_MS;

/** When failed deliveries are retried. */
export interface RetrySchedule {
  /** The delay after each attempt; no retry follows after the last of them. */
  readonly delaysMs: readonly number[];
  /** The largest random extension of a delay, as a part of it, so that the retries after an outage spread. */
  readonly jitter: number;
}

/**
 * When to retry after a failed attempt.
 * @param attempts how many there were, including this one
 * @param chance unpredictable, from 0 to 1
 * @returns null when the schedule has no further retry
 */
export function retryAt(
  { delaysMs, jitter }: RetrySchedule,
  attempts: number,
  result: AttemptResult,
  now: Date,
  chance: number,
): Date | null {
  const delayMs = delaysMs[attempts - 1];
  if (delayMs === undefined) return null;
  const waitMs = Math.max(Math.ceil(delayMs * (1 + jitter * chance)), retryAfterMs(result, now));
  return new Date(now.getTime() + waitMs);
}

/** The delay that an overloaded endpoint requests (RFC 9110, section 10.2.3), at most a day. */
function retryAfterMs({ status, retryAfter }: AttemptResult, now: Date): number {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return 0;
  const requestedMs = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * SECOND_MS
    : Date.parse(retryAfter) - now.getTime();
  return Number.isNaN(requestedMs) ? 0 : Math.min(Math.max(requestedMs, 0), MAX_RETRY_AFTER_MS);
}
