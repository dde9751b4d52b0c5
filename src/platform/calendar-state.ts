const MONTHS = { monthly: 1, yearly: 12 } as const;

/** How often something is paid. */
export type Interval = keyof typeof MONTHS;

/** When a period ends: on the anchor's day of the month, or on the last day of a month that has no such day. */
export function endOfPeriod(anchor: Date, interval: Interval, periods: number): Date {
  const end = new Date(anchor);
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + periods * MONTHS[interval]);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(anchor.getUTCDate(), lastDay));
  return end;
}

const DAY_MS = 86_400_000;

/** The day of a time in UTC, as `YYYY-MM-DD`. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The day a number of days after another one. */
export function addDays(day: string, days: number): string {
  return dayOf(new Date(Date.parse(day) + days * DAY_MS));
}

/** The number of days from the first to the last, both included. */
export function countDays(from: string, to: string): number {
  return Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1);
}

/** Every day from the first to the last, both included. */
export function daysBetween(from: string, to: string): string[] {
  return Array.from({ length: countDays(from, to) }, (_, index) => addDays(from, index));
}
