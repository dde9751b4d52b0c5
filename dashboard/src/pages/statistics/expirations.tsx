import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Chart } from '../../components/chart/chart.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { formatDay, plural } from '../../lib/format.ts';
import { sum } from '../../lib/sum.ts';
import { expirationsQuery } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly days: number;
}

/** How many subscriptions end on each of the next days. */
export function Expirations({ appId, days }: Props) {
  const expirations = useQuery(expirationsQuery(appId, days));
  if (expirations.isLoadingError) {
    return <ErrorState error={expirations.error} onRetry={() => void expirations.refetch()} />;
  }
  if (!expirations.data) return <Loading what="the expirations" />;
  return <Plot appId={appId} {...expirations.data} />;
}

interface PlotProps extends Pick<Schemas['ExpirationsResult'], 'days' | 'counts'> {
  readonly appId: string;
}

function Plot({ appId, days, counts }: PlotProps) {
  const shown = useMemo(
    () => ({ labels: days.map(formatDay), series: [{ label: 'Subscriptions that end', values: counts }] }),
    [days, counts],
  );
  const total = sum(counts);
  return (
    <Chart
      title={`Expirations of the next ${days.length} days`}
      total={plural(total, 'subscription')}
      note={
        <>
          By the day on which the last period ends, in UTC.{' '}
          <Link
            to="/apps/$appId/users"
            params={{ appId }}
            search={{ subscription: 'active', sort: 'expires_at' }}
          >
            Show these users
          </Link>
        </>
      }
      kind="bars"
      {...shown}
    />
  );
}
