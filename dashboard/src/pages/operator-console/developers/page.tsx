import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table/data-table.tsx';
import { SearchField, Toolbar } from '../../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { Select } from '../../../components/field.tsx';
import { useChangeSearch } from '../../../lib/change-search.ts';
import { flagOf } from '../../../lib/search.ts';
import { Page } from '../../../shell/page.tsx';
import { usePlans } from '../plans/queries.ts';
import { developerColumns } from './columns.tsx';
import { type DeveloperFilter, useDevelopers } from './queries.ts';
import { developersRoute } from './route.ts';

/** The developers of this installation. */
export function DevelopersPage() {
  const search = developersRoute.useSearch();
  const plans = usePlans().items.filter(({ kind }) => kind === 'subscription');
  const suspended = flagOf(search.suspended);
  const filter: DeveloperFilter = {
    q: search.q,
    plan_id: search.plan,
    suspended,
  };
  const list = useDevelopers(filter);
  const change = useChangeSearch(developersRoute);
  const isFiltered = Boolean(search.q || search.plan || suspended !== undefined);

  return (
    <Page title="Developers" description="Everyone who has an account on this installation, newest first.">
      <Toolbar>
        <SearchField
          label="Start of an email or a name"
          value={search.q ?? ''}
          onChange={(q) => change({ q })}
        />
        <Select
          bare
          label="Plan"
          value={search.plan ?? ''}
          options={[
            ['', 'Any plan'],
            ...plans.map(({ plan_id, name, period, archived }) => {
              const label = period === 'lifetime' ? name : `${name}, ${period}`;
              return [plan_id, archived ? `${label} (archived)` : label] as const;
            }),
          ]}
          onChange={({ target }) => change({ plan: target.value })}
        />
        <Select
          bare
          label="State"
          value={suspended === undefined ? '' : String(suspended)}
          options={[
            ['', 'Any state'],
            ['false', 'Active'],
            ['true', 'Suspended'],
          ]}
          onChange={({ target }) => change({ suspended: target.value })}
        />
      </Toolbar>
      <DataTable
        label="developers"
        list={list}
        columns={developerColumns}
        idOf={({ developer_id }) => developer_id}
        nameOf={({ email }) => email}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No developer matches"
              action={
                <Button onClick={() => change({ q: '', plan: '', suspended: '' })}>Clear the filters</Button>
              }
            >
              A search finds emails and names by their beginning.
            </EmptyState>
          ) : (
            <EmptyState icon="users" title="No developers yet">
              A developer is listed here after registering.
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
