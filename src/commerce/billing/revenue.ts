import type { Knex } from 'knex';
import { fromMinor } from '../../foundation/money/money.ts';
import type { Clock } from '../../platform/clock.ts';
import type { PaymentProcessor } from '../../platform/payments/index.ts';
import { toSpan, type RevenueRange } from './revenue-span.ts';
import { sumPaid, type RevenueRow } from './revenue-store.ts';

/** Sums in one currency, in its units. */
export interface RevenueTotal {
  readonly currency: string;
  readonly invoices: number;
  readonly amount: number;
  readonly refunded: number;
  /** What the payers' banks have reversed of the rest, for now or for good. */
  readonly disputed: number;
  readonly net: number;
}

export interface RevenueItem extends RevenueTotal {
  /** The first day, `YYYY-MM-DD`. */
  readonly start: string;
}

export interface RevenueReport {
  readonly from: string;
  readonly to: string;
  readonly items: readonly RevenueItem[];
  readonly totals: readonly RevenueTotal[];
}

/** What developers have paid for plans and packs. */
export interface Revenue {
  /** @throws ApiError VALIDATION_FAILED when the range is backwards or too long */
  report(range: RevenueRange): Promise<RevenueReport>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly clock: Clock;
}

export function createRevenue({ knex, payments, clock }: Dependencies): Revenue {
  return {
    async report(range) {
      const { from, to, until } = toSpan(range, clock.now());
      const span = { since: new Date(from), until };
      const rows = await sumPaid(knex, payments.processor, range.interval, span);
      const items = rows.map((row) => ({ start: row.start, ...toTotal(row.currency, [row]) }));
      const totals = [...Map.groupBy(rows, ({ currency }) => currency)]
        .map(([currency, some]) => toTotal(currency, some))
        .sort((a, b) => (a.currency < b.currency ? -1 : 1));
      return { from, to, items, totals };
    },
  };
}

function toTotal(currency: string, rows: readonly RevenueRow[]): RevenueTotal {
  const sumOf = (minor: (row: RevenueRow) => number) => rows.reduce((sum, row) => sum + minor(row), 0);
  const amount = sumOf((row) => row.amount_minor);
  const refunded = sumOf((row) => row.refunded_minor);
  const disputed = sumOf((row) => row.disputed_minor);
  return {
    currency,
    invoices: sumOf((row) => row.invoices),
    amount: fromMinor(amount, currency),
    refunded: fromMinor(refunded, currency),
    disputed: fromMinor(disputed, currency),
    net: fromMinor(amount - refunded - disputed, currency),
  };
}
