import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { useSelection } from '../../components/data-table/selection.ts';
import { SearchField, Toolbar } from '../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select } from '../../components/field.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { oneOf } from '../../lib/search.ts';
import { Page } from '../../shell/page.tsx';
import { useApplication } from '../../shell/queries.ts';
import { LicenseBulkActions } from './bulk-actions.tsx';
import { licenseColumns } from './columns.tsx';
import { CreateDialog } from './create-dialog.tsx';
import { LicenseDrawer } from './license-drawer.tsx';
import { LicensePageActions } from './page-actions.tsx';
import { STATUSES, useLicenses } from './queries.ts';
import { licensesRoute } from './route.ts';

/** The license keys of an application. */
export function LicensesPage() {
  const { appId } = licensesRoute.useParams();
  const search = licensesRoute.useSearch();
  const application = useApplication(appId);
  const filter = { q: search.q, status: oneOf(STATUSES, search.status), tier: search.tier };
  const list = useLicenses(appId, filter);
  const selection = useSelection(JSON.stringify(filter));

  const change = useChangeSearch(licensesRoute);
  const isFiltered = Boolean(filter.q || filter.status || filter.tier);
  const create = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create keys
    </Button>
  );
  const actions = (
    <>
      <LicensePageActions
        appId={appId}
        filter={filter}
        isImporting={search.import !== undefined}
        onImporting={(isImporting) => change({ import: isImporting ? 'yes' : '' })}
      />
      {create}
    </>
  );

  return (
    <Page title="Licenses" description="Keys that your users redeem for time in a tier." actions={actions}>
      <Toolbar>
        <SearchField
          label="Key, user or part of a note"
          value={search.q ?? ''}
          onChange={(q) => change({ q })}
        />
        <Select
          bare
          label="Status"
          value={filter.status ?? ''}
          options={[['', 'Any status'], ...STATUSES.map((status) => [status, status] as const)]}
          onChange={({ target }) => change({ status: target.value })}
        />
        <Select
          bare
          label="Tier"
          value={filter.tier ?? ''}
          options={[
            ['', 'Any tier'],
            ...(application.data?.tiers ?? []).map((tier) => [tier, tier] as const),
          ]}
          onChange={({ target }) => change({ tier: target.value })}
        />
      </Toolbar>
      <DataTable
        label="licenses"
        list={list}
        columns={licenseColumns(appId, (license) => change({ license }))}
        idOf={({ license_id }) => license_id}
        nameOf={({ license_key }) => license_key}
        selection={selection}
        currentId={search.license}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No license matches"
              action={
                <Button onClick={() => change({ q: '', status: '', tier: '' })}>Clear the filters</Button>
              }
            >
              A search finds whole keys, parts of notes of at least 3 characters, and names of users.
            </EmptyState>
          ) : (
            <EmptyState icon="key" title="No license keys yet" action={create}>
              Create keys and sell or give them to your users. Each key adds time in one tier.
            </EmptyState>
          )
        }
      />
      <LicenseBulkActions appId={appId} filter={filter} list={list} selection={selection} />
      <CreateDialog
        appId={appId}
        tiers={application.data?.tiers ?? []}
        open={search.create !== undefined}
        onClose={() => change({ create: '' })}
      />
      <LicenseDrawer appId={appId} licenseId={search.license} onClose={() => change({ license: '' })} />
    </Page>
  );
}
