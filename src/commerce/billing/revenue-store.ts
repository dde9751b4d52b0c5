import type { Knex } from 'knex';

/** Sums of the invoices that were paid in a day or month in a currency. */
export interface RevenueRow {
  /** `YYYY-MM-DD` */
  readonly start: string;
  readonly currency: string;
  readonly invoices: number;
  readonly amount_minor: number;
  readonly refunded_minor: number;
  readonly disputed_minor: number;
}

/** What was paid through a processor from one time to before another, the earliest first. */
export async function sumPaid(
  db: Knex,
  processor: string,
  interval: 'day' | 'month',
  span: { readonly since: Date; readonly until: Date },
): Promise<RevenueRow[]> {
  const { rows } = await db.raw<{ rows: RevenueRow[] }>(
    `select to_char(date_trunc(:interval, coalesce(paid_at, created_at) at time zone 'UTC'), 'YYYY-MM-DD') as start,
       currency,
       count(*) as invoices,
       sum(amount_minor)::bigint as amount_minor,
       sum(least(refunded_minor, amount_minor))::bigint as refunded_minor,
       coalesce(sum(amount_minor - least(refunded_minor, amount_minor))
         filter (where dispute in ('open', 'lost')), 0)::bigint as disputed_minor
     from invoices
     where state = 'paid' and processor = :processor
       and coalesce(paid_at, created_at) >= :since and coalesce(paid_at, created_at) < :until
     group by 1, 2 order by 1, 2`,
    { interval, processor, since: span.since, until: span.until },
  );
  return rows;
}
