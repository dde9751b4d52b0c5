import { invalidMember } from '../../foundation/errors/api-error.ts';

const DAY_MS = 86_400_000;
const DEFAULT_LENGTH = { day: 30, month: 12 };
const MOST = { day: 366, month: 60 };

export type RevenueInterval = 'day' | 'month';

/** What is requested. Days are `YYYY-MM-DD` in UTC. */
export interface RevenueRange {
  readonly interval: RevenueInterval;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Whole days or months, the first and the last day included. */
export interface RevenueSpan {
  readonly from: string;
  readonly to: string;
  /** The time at which the last day has ended. */
  readonly until: Date;
}

/**
 * The days or months of a request: those up to now by default.
 * @throws ApiError VALIDATION_FAILED when the range is backwards or too long
 */
export function toSpan({ interval, from, to }: RevenueRange, now: Date): RevenueSpan {
  const last = startOf(interval, to === undefined ? now : new Date(to));
  const first =
    from === undefined
      ? plus(last, interval, 1 - DEFAULT_LENGTH[interval])
      : startOf(interval, new Date(from));
  if (first > last) throw invalidMember('query/from', 'must not be after to');
  const most = MOST[interval];
  if (plus(first, interval, most) <= last) {
    throw invalidMember('query/from', `must not be more than ${most} ${interval}s before to`);
  }
  const until = plus(last, interval, 1);
  return { from: dayOf(first), to: dayOf(new Date(until.getTime() - DAY_MS)), until };
}

function startOf(interval: RevenueInterval, moment: Date): Date {
  const start = new Date(moment);
  start.setUTCHours(0, 0, 0, 0);
  if (interval === 'month') start.setUTCDate(1);
  return start;
}

/** The start of the day or month a number of them later. */
function plus(start: Date, interval: RevenueInterval, count: number): Date {
  const moved = new Date(start);
  if (interval === 'month') moved.setUTCMonth(moved.getUTCMonth() + count);
  else moved.setUTCDate(moved.getUTCDate() + count);
  return moved;
}

const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);
