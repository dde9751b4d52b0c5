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
