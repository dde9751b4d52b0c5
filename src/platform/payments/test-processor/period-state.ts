const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** After a renewal failed, it is tried again so many days later; then the subscription ends. */
const RETRY_DAYS = [1, 3, 5] as const;

/** @param retries how many there were @returns when the next one is; undefined when there is none */
export function nextRetryAt(failedAt: Date, retries: number): Date | undefined {
  const days = RETRY_DAYS[retries];
  return days === undefined ? undefined : new Date(failedAt.getTime() + days * DAY);
}

/** What a price is worth for the rest of a period, by the second, rounded half up. */
export function restOf(
  amountMinor: number,
  period: { readonly period_start: Date; readonly period_end: Date },
  now: Date,
): number {
  const seconds = (from: Date, to: Date) => Math.floor((to.getTime() - from.getTime()) / SECOND);
  const whole = BigInt(seconds(period.period_start, period.period_end));
  const left = BigInt(Math.max(0, seconds(now, period.period_end)));
  // Not in floating point: a large amount times seconds is more than a number holds.
  const rest = (2n * BigInt(amountMinor) * (left < whole ? left : whole) + whole) / (2n * whole);
  return Number(rest);
}
