const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What passes between an attempt and the next one: the schedule that Standard Webhooks recommends. */
const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
/** By how much of its delay a retry may come later, so that those of one outage do not come at once. */
const JITTER = 0.1;
const LONGEST_WISH_MS = DAY;

const SLOW_MS = 3 * SECOND;

/** What came of one attempt. */
export interface Attempt {
  readonly attemptedAt: Date;
  readonly durationMs: number;
  /** Null when there was no answer. */
  readonly status: number | null;
  /** The header `Retry-After` as it was sent. */
  readonly retryAfter: string | undefined;
  readonly body: string | null;
  /** Why there was no answer, in words. */
  readonly fault: string | null;
}

/** Whether the receiver has taken the event. */
export function isSuccess({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Whether the answer, or the lack of one, took long. */
export function isSlow({ durationMs }: Attempt): boolean {
  return durationMs >= SLOW_MS;
}

/** What was wrong with an attempt, in words; null when nothing was. */
export function errorOf(attempt: Attempt): string | null {
  if (isSuccess(attempt)) return null;
  const { status, fault } = attempt;
  if (status === null) return fault;
  return status >= 300 && status < 400
    ? `The answer was ${status}: redirects are not followed.`
    : `The answer was ${status}.`;
}

/**
 * When to send again after an attempt that has failed.
 * @param attempts how many there were, this one among them
 * @param chance from 0 to 1, unpredictable
 * @returns null when there were enough: the last one is 3 days after the first
 */
export function retryAt(attempts: number, attempt: Attempt, now: Date, chance: number): Date | null {
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return null;
  const waitMs = Math.max(Math.ceil(delayMs * (1 + JITTER * chance)), wishOf(attempt, now));
  return new Date(now.getTime() + waitMs);
}

/** How long an overloaded receiver wants to be left alone (RFC 9110, section 10.2.3), within bounds. */
function wishOf({ status, retryAfter }: Attempt, now: Date): number {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return 0;
  const wishMs = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * SECOND
    : Date.parse(retryAfter) - now.getTime();
  return Number.isNaN(wishMs) ? 0 : Math.min(Math.max(wishMs, 0), LONGEST_WISH_MS);
}

/** Somebody else's text without what the database does not keep. */
export function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}
