import { Link } from '@tanstack/react-router';
import { useSought } from '../../../api/sought.ts';
import { Button, buttonClass } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table/data-table.tsx';
import { Toolbar } from '../../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { Select } from '../../../components/field.tsx';
import { useChangeSearch } from '../../../lib/change-search.ts';
import { oneOf } from '../../../lib/search.ts';
import { Page } from '../../../shell/page.tsx';
import { applicationsOf, useOwnReseller } from '../queries.ts';
import { keyColumns } from './columns.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { useKeys } from './queries.ts';
import { resellerKeysRoute } from './route.ts';

const STATUSES = [
  ['unused', 'Unused'],
  ['redeemed', 'Redeemed'],
  ['paused', 'Paused'],
  ['banned', 'Banned'],
] as const;

/** The keys that the reseller bought. */
export function ResellerKeysPage() {
  const search = resellerKeysRoute.useSearch();
  const reseller = useOwnReseller().data;
  const status = oneOf(
    STATUSES.map(([value]) => value),
    search.status,
  );
  const list = useKeys({ status, app_id: search.app });
  const { item, isSought } = useSought(list, search.key, ({ license_id }) => license_id);
  const change = useChangeSearch(resellerKeysRoute);
  const applications = reseller ? applicationsOf(reseller) : [];
  const buy = (
    <Link to="/reseller/buy" className={buttonClass({ look: 'primary' })}>
      Buy keys
    </Link>
  );

  return (
    <Page
      title="Keys"
      description="Keys that you bought. You get the cost of a returned key back."
      actions={buy}
    >
      <Toolbar>
        <Select
          bare
          label="Status"
          value={status ?? ''}
          options={[['', 'Any status'], ...STATUSES]}
          onChange={({ target }) => change({ status: target.value })}
        />
        {(applications.length > 1 || search.app) && (
          <Select
            bare
            label="Application"
            value={search.app ?? ''}
            options={[['', 'Any application'], ...applications]}
            onChange={({ target }) => change({ app: target.value })}
          />
        )}
      </Toolbar>
      <DataTable
        label="keys"
        list={list}
        columns={keyColumns(reseller, (key) => change({ key }))}
        idOf={({ license_id }) => license_id}
        nameOf={({ license_key }) => license_key}
        currentId={search.key}
        empty={
          status || search.app ? (
            <EmptyState
              icon="search"
              title="No key matches"
              action={<Button onClick={() => change({ status: '', app: '' })}>Clear the filters</Button>}
            >
              No key that you bought has this status and application.
            </EmptyState>
          ) : (
            <EmptyState icon="key" title="No keys yet" action={buy}>
              Keys that you buy are listed here, until you return them.
            </EmptyState>
          )
        }
      />
      <KeyDrawer
        id={search.key}
        item={item}
        isSought={isSought}
        reseller={reseller}
        onClose={() => change({ key: '' })}
      />
    </Page>
  );
}
