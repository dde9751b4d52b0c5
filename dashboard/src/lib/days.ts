export const DAY_MS = 86_400_000;

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Some days in UTC, both ends included, as the operations take them. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The last days, today included. @param ago how many periods earlier */
export function lastDays(days: number, ago = 0, now = Date.now()): Days {
  const end = now - ago * days * DAY_MS;
  return { from: dayOf(end - (days - 1) * DAY_MS), to: dayOf(end) };
}

/** Whether a day is not over yet. @param value such as `2026-11-21`, in UTC */
export const isToday = (value: string | undefined): boolean => value === dayOf(Date.now());

/** When a day of the reader's zone begins that is some days after another one. */
const beginning = (year: number, month: number, day: number) => new Date(year, month, day).toISOString();

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** When a day begins in the reader's zone, or one some days after it. @param value what a date field gives */
export function startOfDay(value: string | undefined, after = 0): string | undefined {
  const [, year, month, day] = DAY.exec(value ?? '') ?? [];
  return year === undefined ? undefined : beginning(Number(year), Number(month) - 1, Number(day) + after);
}

/** When today begins in the reader's zone, or a day after it. */
export function startOfToday(after = 0): string {
  const now = new Date();
  return beginning(now.getFullYear(), now.getMonth(), now.getDate() + after);
}
