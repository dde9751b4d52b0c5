import type { Knex } from 'knex';
import { fromMinor } from '../../foundation/money/money.ts';
import { daysOf, type DayRange } from '../../foundation/day-ranges/day-ranges.ts';
import { dayOf } from '../../platform/calendar-state.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Account } from './ledger.ts';
import { readSales, type SalesRow } from './sales-store.ts';

const DAYS = { byDefault: 30, atMost: 366 };

type Figure = 'keysSold' | 'charged' | 'keysRefunded' | 'refunded';

/** What a reseller bought and returned: every series has one number for each day. Amounts are in units. */
export interface Sales {
  readonly resellerId: string;
  readonly currency: string;
  readonly days: readonly string[];
  readonly totals: Readonly<Record<Figure, number>>;
  readonly series: Readonly<Record<Figure, readonly number[]>>;
}

/** @throws ApiError VALIDATION_FAILED as `daysOf` does */
export async function salesOf(db: Knex, clock: Clock, account: Account, range: DayRange): Promise<Sales> {
  const { reseller_id: resellerId, currency } = account;
  const days = daysOf(range, dayOf(clock.now()), DAYS);
  const rows = await readSales(db, resellerId, days[0]!, days.at(-1)!);
  const byDay = new Map(rows.map((row) => [row.day, row]));

  function figure(column: Exclude<keyof SalesRow, 'day'>) {
    const line = days.map((day) => byDay.get(day)?.[column] ?? 0);
    return { line, total: line.reduce((sum, count) => sum + count, 0) };
  }
  function amounts(column: 'charged_minor' | 'refunded_minor') {
    const { line, total } = figure(column);
    return { line: line.map((minor) => fromMinor(minor, currency)), total: fromMinor(total, currency) };
  }
  const [keysSold, keysRefunded] = [figure('keys_sold'), figure('keys_refunded')];
  const [charged, refunded] = [amounts('charged_minor'), amounts('refunded_minor')];
  return {
    resellerId,
    currency,
    days,
    totals: {
      keysSold: keysSold.total,
      charged: charged.total,
      keysRefunded: keysRefunded.total,
      refunded: refunded.total,
    },
    series: {
      keysSold: keysSold.line,
      charged: charged.line,
      keysRefunded: keysRefunded.line,
      refunded: refunded.line,
    },
  };
}
