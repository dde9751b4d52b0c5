import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Progress } from '../../components/progress.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { Stat, Stats } from '../../components/stat.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { formatNumber } from '../../lib/format.ts';
import { Page, Stack } from '../../shell/page.tsx';
import { applicationColumns } from './columns.tsx';
import { CreateApplicationDialog } from './create-application-dialog.tsx';
import { GetStarted } from './get-started.tsx';
import { type Overview, useOverview } from './queries.ts';
import { overviewRoute } from './route.ts';

/** All applications of the developer, and how much of the plan they use. */
export function OverviewPage() {
  const isCreating = overviewRoute.useSearch().create !== undefined;
  const change = useChangeSearch(overviewRoute);
  const setCreating = (isOpen: boolean) => change({ create: isOpen ? 'yes' : '' });
  const { overview, list } = useOverview();
  const create = (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      Create application
    </Button>
  );
  return (
    <Page title="Overview" description="Your applications and your plan." actions={create}>
      <Stack>
        {list.isLoading && <Skeleton kind="block" />}
        {overview && <Numbers overview={overview} />}
        {overview && (
          <GetStarted
            steps={overview.get_started}
            appId={list.items[0]?.app_id}
            onCreate={() => setCreating(true)}
          />
        )}
        <DataTable
          label="applications"
          list={list}
          columns={applicationColumns}
          idOf={({ app_id }) => app_id}
          nameOf={({ name }) => name}
          empty={
            <EmptyState icon="overview" title="No applications yet" action={create}>
              An application is one of your programs, with its own users, keys and settings.
            </EmptyState>
          }
        />
      </Stack>
      <CreateApplicationDialog open={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Numbers({ overview: { totals, quotas } }: { readonly overview: Overview }) {
  return (
    <Stats>
      <Stat label="Logins" value={totals.logins_today} note="today, in UTC" />
      <Stat label="New users" value={totals.new_users_today} note="today, in UTC" />
      <Stat label="Refused logins" value={totals.refused_logins_today} note="today, in UTC" />
      <Stat label="Live sessions" value={totals.live_sessions} note="now" />
      <Quota label="Applications" {...quotas.apps} />
      <Quota label="Users" {...quotas.users_per_app} value={totals.users} of=" in one application" />
      {quotas.licenses ? (
        <Quota label="License keys" {...quotas.licenses} />
      ) : (
        <Stat
          label="License keys"
          value={totals.licenses.total}
          note={`${formatNumber(totals.licenses.unused)} unused`}
        />
      )}
    </Stats>
  );
}

interface QuotaProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  /** The number to show, if it is another one than what counts. */
  readonly value?: number;
  readonly of?: string;
}

function Quota({ label, used, limit, value = used, of = '' }: QuotaProps) {
  return (
    <Stat
      label={label}
      value={value}
      note={
        <>
          <Progress label={`${label}: used of the plan`} value={used} max={limit} />
          of {formatNumber(limit)}
          {of}
        </>
      }
    />
  );
}
