import type { Knex } from 'knex';

/** What a reseller bought and returned on a day. The trigger `reseller_ledger_counted` maintains it. */
export interface SalesRow {
  /** `YYYY-MM-DD` in UTC. */
  readonly day: string;
  readonly keys_sold: number;
  readonly charged_minor: number;
  readonly keys_refunded: number;
  readonly refunded_minor: number;
}

/** The days with sales or refunds, from one day to another, both included. */
export async function readSales(
  db: Knex,
  resellerId: string,
  from: string,
  to: string,
): Promise<readonly SalesRow[]> {
  return db('reseller_sales')
    .where({ reseller_id: resellerId })
    .whereBetween('day', [from, to])
    .select<SalesRow[]>(
      db.raw('day::text as day'),
      'keys_sold',
      'charged_minor',
      'keys_refunded',
      'refunded_minor',
    );
}
