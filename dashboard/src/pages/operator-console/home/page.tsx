import { useQuery } from '@tanstack/react-query';
import { ErrorState } from '../../../components/error-state.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Stat, Stats } from '../../../components/stat.tsx';
import { Time } from '../../../components/time.tsx';
import { formatNumber } from '../../../lib/format.ts';
import { useChangeSearch } from '../../../lib/change-search.ts';
import { Columns, Page, Stack } from '../../../shell/page.tsx';
import { Attention } from './attention.tsx';
import { Nodes } from './nodes.tsx';
import { Database, Keys, Parts } from './parts.tsx';
import { type Installation, installationQuery } from './queries.ts';
import { Queues } from './queues.tsx';
import { RevenueCard } from './revenue.tsx';
import { operatorHomeRoute } from './route.ts';

/** The health of the installation, and what it earns. */
export function OperatorHomePage() {
  const installation = useQuery(installationQuery);
  const search = operatorHomeRoute.useSearch();
  const change = useChangeSearch(operatorHomeRoute);
  return (
    <Page
      title="Overview"
      description={
        installation.data && (
          <>
            Latchkey <bdi>{installation.data.version}</bdi>, checked{' '}
            <Time value={installation.data.checked_at} form="relative" />.
          </>
        )
      }
    >
      <Stack>
        {installation.isLoadingError && (
          <ErrorState error={installation.error} onRetry={() => void installation.refetch()} />
        )}
        {installation.data && <Attention installation={installation.data} />}
        {installation.data && <Counts installation={installation.data} />}
        {installation.isPending && <Loading what="the state of the installation" lines={8} />}
        <RevenueCard search={search} onChange={change} />
        {installation.data && <State installation={installation.data} />}
      </Stack>
    </Page>
  );
}

function Counts({ installation: { counts, nodes } }: { readonly installation: Installation }) {
  const alive = nodes.filter(({ state }) => state === 'alive').length;
  const stored = ({ count, estimated }: (typeof counts)['users']) => ({
    value: count === null ? '—' : `${estimated ? '≈ ' : ''}${formatNumber(count)}`,
    note: count === null ? 'unknown' : estimated ? 'estimate of the database' : 'exact count',
  });
  return (
    <Stats>
      <Stat label="Developers" {...stored(counts.developers)} />
      <Stat label="Applications" {...stored(counts.applications)} />
      <Stat label="Users" {...stored(counts.users)} />
      <Stat label="Nodes" value={alive} note={alive === nodes.length ? 'all alive' : `of ${nodes.length}`} />
    </Stats>
  );
}

function State({ installation }: { readonly installation: Installation }) {
  return (
    <>
      <Columns>
        <Queues queues={installation.queues} />
        <Database database={installation.database} />
      </Columns>
      <Nodes nodes={installation.nodes} />
      <Columns>
        <Parts installation={installation} />
        <Keys keys={installation.signing_keys} />
      </Columns>
    </>
  );
}
