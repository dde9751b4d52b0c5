import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { useSelection } from '../../components/data-table/selection.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { Page } from '../../shell/page.tsx';
import { useApplication } from '../../shell/queries.ts';
import { UserBulkActions } from './bulk-actions.tsx';
import { userColumns } from './columns.tsx';
import { CreateUserDialog } from './create-user-dialog.tsx';
import { readFilter, UserFilters } from './filters.tsx';
import { UserPageActions } from './page-actions.tsx';
import { useUsers } from './queries.ts';
import { usersRoute } from './route.ts';

/** The users of an application. */
export function UsersPage() {
  const { appId } = usersRoute.useParams();
  const search = usersRoute.useSearch();
  const application = useApplication(appId);
  const filter = readFilter(search);
  const list = useUsers(appId, filter);
  const selection = useSelection(JSON.stringify(filter));

  const change = useChangeSearch(usersRoute);
  const clear = () =>
    change({ q: '', banned: '', tier: '', machine: '', since: '', subscription: '', ends: '' });
  const { sort, ...filters } = filter;
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const create = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Add user
    </Button>
  );
  const actions = (
    <>
      <UserPageActions
        appId={appId}
        filter={filter}
        isImporting={search.import !== undefined}
        onImporting={(isImporting) => change({ import: isImporting ? 'yes' : '' })}
      />
      {create}
    </>
  );

  return (
    <Page title="Users" description="Everyone who has an account in this application." actions={actions}>
      <UserFilters search={search} tiers={application.data?.tiers ?? []} onChange={change} />
      <DataTable
        label="users"
        list={list}
        columns={userColumns(appId)}
        idOf={({ user_id }) => user_id}
        nameOf={({ username }) => username}
        selection={selection}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No user matches"
              action={<Button onClick={clear}>Clear the filters</Button>}
            >
              A search finds names and email addresses by their beginning.
            </EmptyState>
          ) : (
            <EmptyState icon="users" title="No users yet" action={create}>
              Users register in your program, or you add them here.
            </EmptyState>
          )
        }
      />
      <UserBulkActions appId={appId} filter={filter} list={list} selection={selection} />
      <CreateUserDialog
        appId={appId}
        open={search.create !== undefined}
        onClose={() => change({ create: '' })}
      />
    </Page>
  );
}
