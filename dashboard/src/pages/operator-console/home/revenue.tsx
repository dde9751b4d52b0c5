import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Callout } from '../../../components/callout.tsx';
import { Chart } from '../../../components/chart/chart.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Select } from '../../../components/field.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Stat, Stats } from '../../../components/stat.tsx';
import { formatMoney, plural } from '../../../lib/format.ts';
import { useLast } from '../../../lib/last.ts';
import { oneOf } from '../../../lib/search.ts';
import styles from './home.module.css';
import { revenueQuery } from './queries.ts';
import { labelOf, startsOf } from './revenue-days.ts';

const PERIODS = [
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['366', 'Last 366 days'],
  ['12m', 'Last 12 months'],
  ['60m', 'Last 60 months'],
] as const;

interface Search {
  readonly period?: string;
  readonly currency?: string;
}

interface Props {
  readonly search: Search;
  readonly onChange: (search: Search) => void;
}

/** What developers paid, by day or month. */
export function RevenueCard({ search, onChange }: Props) {
  const period =
    oneOf(
      PERIODS.map(([value]) => value),
      search.period,
    ) ?? '30';
  const interval = period.endsWith('m') ? 'month' : 'day';
  const revenue = useQuery(revenueQuery(interval, Number.parseInt(period, 10)));
  const shownPeriod = useLast(revenue.isPlaceholderData ? undefined : period) ?? period;
  const words = PERIODS.find(([value]) => value === shownPeriod)![1].toLowerCase();
  const currencies = revenue.data?.totals.map(({ currency }) => currency) ?? [];
  const currency = oneOf(currencies, search.currency) ?? currencies[0] ?? 'USD';
  const totals = revenue.data?.totals.find((each) => each.currency === currency);
  const money = (value: number) => formatMoney(value, currency);
  const shown = useMemo(() => {
    if (!revenue.data) return undefined;
    const items = new Map(
      revenue.data.data.filter((item) => item.currency === currency).map((item) => [item.start, item]),
    );
    const starts = startsOf(revenue.data);
    return {
      labels: starts.map((start) => labelOf(start, revenue.data.interval)),
      series: [{ label: 'Net', values: starts.map((start) => items.get(start)?.net ?? 0) }],
      format: (value: number) => formatMoney(value, currency),
    };
  }, [revenue.data, currency]);

  return (
    <section aria-label="Revenue" className={styles.revenue}>
      <div className={styles.head}>
        <h2>Revenue</h2>
        <div className={styles.choices}>
          {currencies.length > 1 && (
            <Select
              bare
              label="Currency"
              value={currency}
              options={currencies.map((code) => [code, code])}
              onChange={({ target }) => onChange({ currency: target.value })}
            />
          )}
          <Select
            bare
            label="Period"
            value={period}
            options={PERIODS}
            onChange={({ target }) => onChange({ period: target.value })}
          />
        </div>
      </div>
      {revenue.isLoadingError ? (
        <ErrorState error={revenue.error} onRetry={() => void revenue.refetch()} />
      ) : !revenue.data || !shown ? (
        <Loading what="the revenue" lines={6} />
      ) : totals ? (
        <>
          <Stats>
            <Stat
              label="Net"
              value={money(totals.net)}
              note={`${plural(totals.invoices, 'invoice')} in the ${words}`}
            />
            <Stat label="Paid" value={money(totals.amount)} note="by developers" />
            <Stat label="Refunded" value={money(totals.refunded)} note="to developers" />
            <Stat label="Disputed" value={money(totals.disputed)} note="by their banks" />
          </Stats>
          <Chart
            title={revenue.data.interval === 'day' ? 'Net revenue by day' : 'Net revenue by month'}
            note="In UTC. Refunds and disputes count on the day of the payment that they reverse."
            labels={shown.labels}
            series={shown.series}
            format={shown.format}
            kind="bars"
            isRunning
          />
        </>
      ) : (
        <Callout>No developer has paid in the {words}.</Callout>
      )}
    </section>
  );
}
