import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Callout } from '../../components/callout.tsx';
import { Chart } from '../../components/chart/chart.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Select } from '../../components/field.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { isToday } from '../../lib/days.ts';
import { formatDay, formatMoney, plural } from '../../lib/format.ts';
import { useChangeSearch } from '../../lib/change-search.ts';
import { useLast } from '../../lib/last.ts';
import { comparedSum, PERIODS } from '../../lib/period.ts';
import { oneOf } from '../../lib/search.ts';
import { Columns, Stack } from '../../shell/page.tsx';
import type { Reseller } from '../resellers/queries.ts';
import { salesQuery } from './queries.ts';
import styles from './reseller.module.css';
import { resellerRoute } from './route.ts';

const DEFAULT_DAYS = '30';

/** What a reseller has, and what they bought. */
export function Balance({ reseller }: { readonly reseller: Reseller }) {
  const { days: wanted } = resellerRoute.useSearch();
  const change = useChangeSearch(resellerRoute);
  const days = oneOf(PERIODS, wanted) ?? DEFAULT_DAYS;
  const sales = useQuery(salesQuery(reseller.reseller_id, Number(days)));
  const shownDays = useLast(sales.isPlaceholderData ? undefined : Number(days)) ?? Number(days);
  return (
    <Stack>
      <Amounts reseller={reseller} />
      <div className={styles.period}>
        <h2>Sales</h2>
        <Select
          bare
          label="Period"
          value={days}
          options={PERIODS.map((period) => [period, `Last ${period} days`])}
          onChange={({ target }) => change({ days: target.value })}
        />
      </div>
      {sales.isLoadingError ? (
        <ErrorState error={sales.error} onRetry={() => void sales.refetch()} />
      ) : sales.data ? (
        <Sales sales={sales.data} days={shownDays} />
      ) : (
        <Loading what="the sales" lines={9} />
      )}
    </Stack>
  );
}

function Amounts({ reseller }: { readonly reseller: Reseller }) {
  const { balance, owed = 0, waiting = 0, currency, commission_margin: margin, suspended } = reseller;
  return (
    <>
      {suspended && (
        <Callout tone="warn">
          The reseller is suspended: their tokens can only read. Keys that they sold still work.
        </Callout>
      )}
      <Stats>
        <Stat label="Balance" value={formatMoney(balance, currency)} note="what they can buy keys for" />
        {owed > 0 && <Stat label="Owed" value={formatMoney(owed, currency)} note="from reversed payments" />}
        {waiting > 0 && (
          <Stat label="Waiting" value={formatMoney(waiting, currency)} note="paid, not yet credited" />
        )}
        <Stat label="Commission" value={`${margin}%`} note="of each price" />
      </Stats>
      {owed > 0 && (
        <Callout tone="bad">
          A payment for the balance was refunded or disputed after the reseller had spent it, and{' '}
          {formatMoney(owed, currency)} could not be taken back. The next credits and payments cover this
          amount first.
        </Callout>
      )}
      {waiting > 0 && (
        <Callout>
          The reseller paid {formatMoney(waiting, currency)} more than a balance can hold. The amount moves to
          the balance as soon as they spend some of it.
        </Callout>
      )}
    </>
  );
}

interface SalesProps {
  readonly sales: Schemas['ResellerStatisticsResult'];
  readonly days: number;
}

function Sales({ sales, days }: SalesProps) {
  const { series, currency } = sales;
  const shown = useMemo(() => {
    const last = (values: readonly number[]) => values.slice(-days);
    return {
      common: { labels: sales.days.slice(-days).map(formatDay), isRunning: isToday(sales.days.at(-1)) },
      keys: [
        { label: 'Sold', values: last(series.keys_sold) },
        { label: 'Returned', values: last(series.keys_refunded) },
      ],
      amounts: [
        { label: 'Charged', values: last(series.charged) },
        { label: 'Refunded', values: last(series.refunded) },
      ],
    };
  }, [sales, series, days]);
  const keys = comparedSum(series.keys_sold, days);
  const charged = comparedSum(series.charged, days);
  const returned = comparedSum(series.keys_refunded, days);
  const refunded = comparedSum(series.refunded, days);
  const period = `in the last ${days} days`;
  return (
    <>
      <Stats days={days}>
        <Stat label="Keys sold" {...keys} note={period} />
        <Stat label="Charged" {...charged} value={formatMoney(charged.value, currency)} note={period} />
        <Stat label="Keys returned" value={returned.value} note={period} />
        <Stat label="Refunded" value={formatMoney(refunded.value, currency)} note={period} />
      </Stats>
      <Columns>
        <Chart
          title="Keys"
          total={plural(keys.value, 'key')}
          note="Bought and returned by the reseller, for each day in UTC."
          {...shown.common}
          series={shown.keys}
        />
        <Chart
          title={`Amounts in ${currency}`}
          total={formatMoney(charged.value, currency)}
          note="Prices minus the commission."
          {...shown.common}
          series={shown.amounts}
        />
      </Columns>
    </>
  );
}
