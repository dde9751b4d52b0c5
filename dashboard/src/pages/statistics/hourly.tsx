import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { lastDays } from '../../lib/days.ts';
import { formatHour, plural } from '../../lib/format.ts';
import { sum } from '../../lib/sum.ts';
import { Columns } from '../../shell/page.tsx';
import { hourlyQuery } from './queries.ts';

/** What the contract counts by hour. */
const SHOWN = [
  ['logins', 'Logins by hour', 'login'],
  ['refused_logins', 'Refused logins by hour', 'refused login'],
  ['new_users', 'New users by hour', 'new user'],
  ['activations', 'Activations by hour', 'activation'],
] as const satisfies readonly (readonly [keyof Schemas['HourlySeries'], string, string])[];

/** The most days that have hours. */
export const HOURLY_DAYS = 7;

/** Plots of the last week by hour, in the reader's zone. */
export function HourlyCharts({ appId }: { readonly appId: string }) {
  const statistics = useQuery(hourlyQuery(appId, lastDays(HOURLY_DAYS)));
  const hourly = statistics.data?.hourly;
  const shown = useMemo(() => hourly && withLabels(hourly), [hourly]);
  if (statistics.isLoadingError) {
    return <ErrorState error={statistics.error} onRetry={() => void statistics.refetch()} />;
  }
  if (!shown) return <Loading what="the hours" lines={9} />;
  return (
    <Columns>
      {shown.charts.map(({ title, total, series }) => (
        <Chart key={title} {...{ title, total, series }} labels={shown.labels} isRunning />
      ))}
    </Columns>
  );
}

function withLabels({ hours, series }: Schemas['HourlyStatistics']) {
  return {
    labels: hours.map(formatHour),
    charts: SHOWN.map(([name, title, unit]) => ({
      title,
      total: plural(sum(series[name]), unit),
      series: [{ label: title, values: series[name] }],
    })),
  };
}
