import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { asCursorList } from '../../api/whole-list.ts';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { SearchField, Toolbar } from '../../components/data-table/toolbar.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select } from '../../components/field.tsx';
import { Usage } from '../../components/usage.tsx';
import { bytesOf, formatBytes } from '../../lib/bytes.ts';
import { useChangeSearch } from '../../lib/change-search.ts';
import { oneOf } from '../../lib/search.ts';
import { sum } from '../../lib/sum.ts';
import { Page } from '../../shell/page.tsx';
import { variableColumns } from './columns.tsx';
import { MOST, type Variable, variablesQuery, type Visibility } from './queries.ts';
import { variablesRoute } from './route.ts';
import { VariableDrawer } from './variable-drawer.tsx';
import { VariableForm } from './variable-form.tsx';
import styles from './variables.module.css';

const FILTERS = ['public', 'session'] as const satisfies readonly Visibility[];

/** The variables of an application. */
export function VariablesPage() {
  const { appId } = variablesRoute.useParams();
  const search = variablesRoute.useSearch();
  const variables = useQuery(variablesQuery(appId));
  const all = useMemo(() => variables.data ?? [], [variables.data]);
  const visibility = oneOf(FILTERS, search.visibility);
  const shown = useMemo(() => matching(all, search.q ?? '', visibility), [all, search.q, visibility]);
  const taken = useMemo(() => new Set(all.map(({ name }) => name)), [all]);

  const change = useChangeSearch(variablesRoute);
  const create = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create variable
    </Button>
  );
  return (
    <Page
      title="Variables"
      description="Values that your program reads. You can change them without a release."
      actions={create}
    >
      {all.length > 0 && (
        <>
          <UsageOfVariables variables={all} />
          <Toolbar>
            <SearchField
              label="Part of a name or value"
              value={search.q ?? ''}
              onChange={(q) => change({ q })}
            />
            <Select
              bare
              label="Readable by"
              value={visibility ?? ''}
              options={[
                ['', 'Any access'],
                ['public', 'Every client'],
                ['session', 'Signed-in users'],
              ]}
              onChange={({ target }) => change({ visibility: target.value })}
            />
          </Toolbar>
        </>
      )}
      <DataTable
        label="variables"
        list={asCursorList(variables, shown)}
        columns={variableColumns((variable) => change({ variable }))}
        idOf={({ name }) => name}
        nameOf={({ name }) => name}
        currentId={search.variable}
        empty={
          all.length > 0 ? (
            <EmptyState
              icon="search"
              title="No variable matches"
              action={<Button onClick={() => change({ q: '', visibility: '' })}>Clear the filters</Button>}
            >
              A search finds parts of names and of values.
            </EmptyState>
          ) : (
            <EmptyState icon="braces" title="No variables yet" action={create}>
              Create one for a message of the day, a feature switch, or the address of your server.
            </EmptyState>
          )
        }
      />
      <Dialog
        kind="wide"
        open={search.create !== undefined}
        onClose={() => change({ create: '' })}
        title="Create a variable"
      >
        <VariableForm appId={appId} taken={taken} onClose={() => change({ create: '' })} />
      </Dialog>
      <VariableDrawer appId={appId} name={search.variable} onClose={() => change({ variable: '' })} />
    </Page>
  );
}

function matching(all: readonly Variable[], text: string, visibility: Visibility | undefined) {
  const wanted = text.toLowerCase();
  return all.filter(
    (variable) =>
      (visibility === undefined || variable.visibility === visibility) &&
      (variable.name.toLowerCase().includes(wanted) || variable.value.toLowerCase().includes(wanted)),
  );
}

function UsageOfVariables({ variables }: { readonly variables: readonly Variable[] }) {
  const bytes = useMemo(() => sum(variables.map(({ value }) => bytesOf(value))), [variables]);
  return (
    <div className={styles.usage}>
      <Usage label="Variables" used={variables.length} limit={MOST.variables} />
      <Usage label="Size of all values" used={bytes} limit={MOST.bytes} format={formatBytes} />
    </div>
  );
}
