import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Chart } from '../../../components/chart/chart.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Select } from '../../../components/field.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Stat, Stats } from '../../../components/stat.tsx';
import { formatDay, formatMoney, plural } from '../../../lib/format.ts';
import { useLast } from '../../../lib/last.ts';
import { PERIODS } from '../../../lib/period.ts';
import styles from './home.module.css';
import { salesQuery } from './queries.ts';

interface Props {
  readonly days: (typeof PERIODS)[number];
  readonly onDays: (days: string) => void;
}

/** How many keys the reseller bought and returned. */
export function Sales({ days, onDays }: Props) {
  const sales = useQuery(salesQuery(Number(days)));
  const period = `in the last ${useLast(sales.isPlaceholderData ? undefined : days) ?? days} days`;
  const shown = useMemo(() => {
    if (!sales.data) return undefined;
    const { days: names, series } = sales.data;
    const bought = [
      { label: 'Bought', values: series.keys_sold },
      { label: 'Returned', values: series.keys_refunded },
    ];
    return { labels: names.map(formatDay), bought };
  }, [sales.data]);
  return (
    <section aria-label="Sales" className={styles.sales}>
      <div className={styles.head}>
        <h2>Sales</h2>
        <Select
          bare
          label="Period"
          value={days}
          options={PERIODS.map((period) => [period, `Last ${period} days`])}
          onChange={({ target }) => onDays(target.value)}
        />
      </div>
      {sales.isLoadingError ? (
        <ErrorState error={sales.error} onRetry={() => void sales.refetch()} />
      ) : sales.data && shown ? (
        <>
          <Stats>
            <Stat
              label="Paid"
              value={formatMoney(sales.data.totals.charged, sales.data.currency)}
              note={`${plural(sales.data.totals.keys_sold, 'key')} ${period}`}
            />
            <Stat
              label="Got back"
              value={formatMoney(sales.data.totals.refunded, sales.data.currency)}
              note={`${plural(sales.data.totals.keys_refunded, 'key')} ${period}`}
            />
          </Stats>
          <Chart title="Keys by day" note="Days are in UTC." labels={shown.labels} series={shown.bought} />
        </>
      ) : (
        <Loading what="the sales" lines={6} />
      )}
    </section>
  );
}
