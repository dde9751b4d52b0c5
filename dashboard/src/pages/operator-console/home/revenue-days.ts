import type { Schemas } from '../../../api/client.ts';
import { formatDay } from '../../../lib/format.ts';

const month = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', timeZone: 'UTC' });

/** The first days of all periods between the limits, also of those without a payment. */
export function startsOf({ interval, from, to }: Pick<Schemas['RevenueResult'], 'interval' | 'from' | 'to'>) {
  const starts: string[] = [];
  const date = new Date(`${from}T00:00:00Z`);
  if (interval === 'month') date.setUTCDate(1);
  for (const end = new Date(`${to}T00:00:00Z`); date <= end;) {
    starts.push(date.toISOString().slice(0, 10));
    if (interval === 'month') date.setUTCMonth(date.getUTCMonth() + 1);
    else date.setUTCDate(date.getUTCDate() + 1);
  }
  return starts;
}

export const labelOf = (start: string, interval: Schemas['RevenueInterval']): string =>
  interval === 'month' ? month.format(new Date(`${start}T00:00:00Z`)) : formatDay(start);
