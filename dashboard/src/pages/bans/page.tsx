import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Callout } from '../../components/callout.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { BulkActions } from '../../components/data-table/bulk/bulk-actions.tsx';
import { changeEach } from '../../components/data-table/bulk/bulk.ts';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { useSelection } from '../../components/data-table/selection.ts';
import { Toolbar } from '../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { formatNumber } from '../../lib/format.ts';
import { useChangeSearch } from '../../lib/change-search.ts';
import { oneOf } from '../../lib/search.ts';
import { Page } from '../../shell/page.tsx';
import { banColumns, banName, KIND_WORDS } from './columns.tsx';
import { CreateBanDialog } from './create-dialog.tsx';
import { type Ban, KINDS, liftBan, STATES, useBans, useBansChanged } from './queries.ts';
import { bansRoute } from './route.ts';

const idOf = ({ ban_id }: Ban) => ban_id;

/** Who and what may not use the application. */
export function BansPage() {
  const { appId } = bansRoute.useParams();
  const search = bansRoute.useSearch();
  const filter = { kind: oneOf(KINDS, search.kind), state: oneOf(STATES, search.state) };
  const { list, lookFurther, lookedThrough } = useBans(appId, filter);
  const changed = useBansChanged(appId);
  const selection = useSelection(JSON.stringify(filter));
  const [lifted, setLifted] = useState<Ban>();
  const change = useChangeSearch(bansRoute);
  const isFiltered = Boolean(filter.kind ?? filter.state);
  const create = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create ban
    </Button>
  );

  return (
    <Page
      title="Bans"
      description="Users, machines and networks that may not use your program."
      actions={create}
    >
      <Toolbar>
        <Select
          bare
          label="Kind"
          value={filter.kind ?? ''}
          options={[['', 'Any kind'], ...KINDS.map((kind) => [kind, KIND_WORDS[kind]] as const)]}
          onChange={({ target }) => change({ kind: target.value })}
        />
        <Select
          bare
          label="State"
          value={filter.state ?? ''}
          options={[['', 'Any state'], ...STATES.map((state) => [state, state] as const)]}
          onChange={({ target }) => change({ state: target.value })}
        />
      </Toolbar>
      {lookFurther && (
        <Callout>
          The newest {formatNumber(lookedThrough)} bans were looked through.{' '}
          <Button onClick={lookFurther}>Look further</Button>
        </Callout>
      )}
      <DataTable
        label="bans"
        list={list}
        columns={banColumns({ appId, onLift: setLifted })}
        idOf={idOf}
        nameOf={banName}
        selection={selection}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No ban matches"
              action={<Button onClick={() => change({ kind: '', state: '' })}>Clear the filters</Button>}
            >
              Expired bans stay in the list until you lift them.
            </EmptyState>
          ) : (
            <EmptyState icon="ban" title="No bans" action={create}>
              Ban a user, a machine or a network to keep it from logging in. License keys are banned on the
              page Licenses.
            </EmptyState>
          )
        }
      />
      <BulkActions
        noun="ban"
        list={list}
        selection={selection}
        idOf={idOf}
        nameOf={banName}
        actions={[
          {
            label: 'Lift',
            description: 'The users, machines and networks can log in again.',
            run: (target, { signal }) =>
              changeEach(target === 'listed' ? [] : target.ids, (id) => liftBan(appId, id), signal),
          },
        ]}
        onChanged={() => void changed()}
      />
      <CreateBanDialog
        appId={appId}
        open={search.create !== undefined}
        onClose={() => change({ create: '' })}
      />
      <ConfirmDialog
        open={lifted !== undefined}
        onClose={() => setLifted(undefined)}
        title="Lift this ban?"
        description="What it banned can log in again at once. Sessions that have ended stay ended."
        action="Lift"
        isDangerous={false}
        onConfirm={async () => {
          await liftBan(appId, lifted!.ban_id);
          await changed();
          toast('Ban lifted.');
        }}
      />
    </Page>
  );
}
