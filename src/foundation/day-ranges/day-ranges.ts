import { addDays, countDays, daysBetween } from '../../platform/calendar-state.ts';
import { invalidMember } from '../errors/api-error.ts';

/** Days in UTC, as `YYYY-MM-DD`, both ends included. */
export interface DayRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface Limits {
  /** How many days there are without `from`. */
  readonly byDefault: number;
  readonly atMost: number;
}

/**
 * The days of a range that have begun; by default, those up to today.
 * @throws ApiError VALIDATION_FAILED for days in the wrong order, too many days, or only days in the future
 */
export function daysOf(range: DayRange, today: string, { byDefault, atMost }: Limits): readonly string[] {
  const { to: last = today } = range;
  const to = last < today ? last : today;
  const from = range.from ?? addDays(to, 1 - byDefault);
  if (from > last) throw invalidMember('query/from', 'must not be after to');
  if (from > today) throw invalidMember('query/from', 'must not be in the future');
  if (countDays(from, to) > atMost)
    throw invalidMember('query/from', `must not be more than ${atMost} days before to`);
  return daysBetween(from, to);
}
