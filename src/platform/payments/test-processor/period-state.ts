const SECOND = 1_000;
const DAY = 86_400 * SECOND;
/** How many days after a failed renewal it is retried. After the last retry, the subscription ends. */
const RETRY_DAYS = [1, 3, 5] as const;

/** @param retries how many there were @returns the time of the next one; undefined after the last */
export function nextRetryAt(failedAt: Date, retries: number): Date | undefined {
  const days = RETRY_DAYS[retries];
  return days === undefined ? undefined : new Date(failedAt.getTime() + days * DAY);
}

/** The share of a price for the rest of a period, by the second, rounded half up. */
export function restOf(
  amountMinor: number,
  period: { readonly period_start: Date; readonly period_end: Date },
  now: Date,
): number {
  const seconds = (from: Date, to: Date) => Math.floor((to.getTime() - from.getTime()) / SECOND);
  const whole = BigInt(seconds(period.period_start, period.period_end));
  const left = BigInt(Math.max(0, seconds(now, period.period_end)));
  // In BigInt: a large amount times seconds exceeds the safe integers.
  const rest = (2n * BigInt(amountMinor) * (left < whole ? left : whole) + whole) / (2n * whole);
  return Number(rest);
}
