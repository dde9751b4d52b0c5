import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schemas } from '../../../api/client.ts';
import { buttonClass } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Chart } from '../../../components/chart/chart.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Select } from '../../../components/field.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Stat, Stats } from '../../../components/stat.tsx';
import { isToday } from '../../../lib/days.ts';
import { formatDay, formatMoney, plural } from '../../../lib/format.ts';
import { useLast } from '../../../lib/last.ts';
import { PERIODS } from '../../../lib/period.ts';
import styles from './home.module.css';
import { salesQuery } from './queries.ts';

/** Whether there is nothing to plot. */
const isNone = ({ keys_sold, keys_refunded }: Schemas['ResellerStatisticsResult']['totals']) =>
  keys_sold + keys_refunded === 0;

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
    return { labels: names.map(formatDay), series: bought, isRunning: isToday(names.at(-1)) };
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
      ) : sales.data && isNone(sales.data.totals) ? (
        <Card>
          <EmptyState
            icon="key"
            title={`No keys bought ${period}`}
            action={
              <Link to="/reseller/buy" className={buttonClass()}>
                Buy keys
              </Link>
            }
          >
            Buy keys with your balance and sell them to your customers. What you buy and return is counted
            here.
          </EmptyState>
        </Card>
      ) : sales.data && shown ? (
        <>
          <Stats>
            <Stat
              label="Paid"
              value={formatMoney(sales.data.totals.charged, sales.data.currency)}
              note={`${plural(sales.data.totals.keys_sold, 'key')} ${period}`}
            />
            <Stat
              label="Refunded"
              value={formatMoney(sales.data.totals.refunded, sales.data.currency)}
              note={`${plural(sales.data.totals.keys_refunded, 'key')} ${period}`}
            />
          </Stats>
          <Chart title="Keys by day" note="Days are in UTC." {...shown} />
        </>
      ) : (
        <Loading what="the sales" lines={6} />
      )}
    </section>
  );
}
