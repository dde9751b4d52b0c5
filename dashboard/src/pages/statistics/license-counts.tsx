import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { SimpleTable } from '../../components/simple-table.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { formatNumber } from '../../lib/format.ts';
import { countsQuery } from './queries.ts';

const STATUSES = ['unused', 'redeemed', 'paused', 'banned'] as const;

/** How many license keys there are right now, by tier and by status. */
export function LicenseCounts({ appId }: { readonly appId: string }) {
  const counts = useQuery(countsQuery(appId));
  return (
    <Card title="License keys" description="Right now, by tier and status.">
      {counts.isLoadingError ? (
        <ErrorState error={counts.error} onRetry={() => void counts.refetch()} compact />
      ) : counts.data ? (
        <Table appId={appId} counts={counts.data} />
      ) : (
        <Loading what="the counts" />
      )}
    </Card>
  );
}

const numbersOf = (counts: Schemas['LicenseCounts']) =>
  [...STATUSES, 'total' as const].map((name) => formatNumber(counts[name]));

interface TableProps {
  readonly appId: string;
  readonly counts: Schemas['ApplicationCountsResult'];
}

function Table({ appId, counts: { licenses, licenses_by_tier } }: TableProps) {
  const link = (tier: string | undefined) => (
    <Link to="/apps/$appId/licenses" params={{ appId }} search={tier === undefined ? {} : { tier }}>
      <bdi>{tier ?? 'All tiers'}</bdi>
    </Link>
  );
  return (
    <SimpleTable
      label="License keys by tier and status"
      head={['Tier', 'Unused', 'Redeemed', 'Paused', 'Banned', 'Total']}
      rows={[
        ...licenses_by_tier.map(({ tier, ...counts }) => [link(tier), ...numbersOf(counts)]),
        [link(undefined), ...numbersOf(licenses)],
      ]}
    />
  );
}
