import { useQuery } from '@tanstack/react-query';
import { PAGE_SIZE, useCursorList } from '../api/pages.ts';
import { Button } from '../components/button.tsx';
import { DataTable } from '../components/data-table/data-table.tsx';
import { FilterBar } from '../components/data-table/filter-bar.tsx';
import { SearchField } from '../components/data-table/toolbar.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Field, Select } from '../components/field.tsx';
import styles from './audit-log.module.css';
import { auditColumns } from './columns.tsx';
import { entryQuery } from './entry.ts';
import { EntryDrawer } from './entry-drawer.tsx';
import { ACTOR_KINDS, auditQuery, type AuditSearch } from './filter.ts';
import type { AuditSource } from './source.ts';

interface Props {
  readonly source: AuditSource;
  readonly search: AuditSearch;
  /** Changes members of the address. An empty text removes one. */
  readonly onChange: (members: AuditSearch) => void;
}

const FILTERS = ['action', 'kind', 'actor', 'target', 'from', 'app', 'since', 'until'] as const;
const MORE = ['actor', 'target', 'from', 'app'] as const;
const NONE = Object.fromEntries(FILTERS.map((name) => [name, '']));
const MORE_LABELS = {
  actor: 'Actor identifier',
  target: 'Target identifier',
  from: 'IP address',
  app: 'Application identifier',
} as const;

/** An audit log with its filters, and the details of an entry at the side. */
export function AuditLog({ source, search, onChange }: Props) {
  const query = auditQuery(search);
  const list = useCursorList([...source.key, query], (cursor, signal) =>
    source.read({ ...query, limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal),
  );
  const isFiltered = FILTERS.some((name) => search[name]);
  const listed = list.items.find(({ audit_id }) => audit_id === search.entry);
  const isElsewhere = search.entry !== undefined && !list.isLoading && listed === undefined;
  const found = useQuery({ ...entryQuery(source, search.entry ?? ''), enabled: isElsewhere });
  const entry = listed ?? (isElsewhere ? found.data : undefined);

  return (
    <>
      <Filters search={search} onChange={onChange} />
      <DataTable
        label="entries"
        list={list}
        columns={auditColumns((id) => onChange({ entry: id }))}
        idOf={({ audit_id }) => audit_id}
        nameOf={({ action }) => action}
        currentId={search.entry}
        empty={
          isFiltered ? (
            <EmptyState
              icon="search"
              title="No entry matches"
              action={<Button onClick={() => onChange(NONE)}>Clear the filters</Button>}
            >
              Actions are found by their beginning, identifiers and addresses only as a whole.
            </EmptyState>
          ) : (
            <EmptyState icon="list" title="No entries yet">
              Every change that is made with an account, a token or an agent leaves an entry here.
            </EmptyState>
          )
        }
      />
      <EntryDrawer
        source={source}
        id={search.entry}
        entry={entry ?? undefined}
        isSought={list.isLoading || found.isFetching}
        error={found.error}
        onFilter={(members) => onChange({ ...members, entry: '' })}
        onClose={() => onChange({ entry: '' })}
      />
    </>
  );
}

function Filters({ search, onChange }: Omit<Props, 'source'>) {
  return (
    <FilterBar
      active={MORE.filter((name) => search[name]).length}
      more={MORE.map((name) => (
        <SearchField
          key={name}
          label={MORE_LABELS[name]}
          value={search[name] ?? ''}
          onChange={(value) => onChange({ [name]: value.trim() })}
        />
      ))}
    >
      <SearchField
        label="Start of an action, such as user."
        value={search.action ?? ''}
        onChange={(action) => onChange({ action })}
      />
      <Select
        bare
        label="Actor"
        value={search.kind ?? ''}
        options={[['', 'Any actor'], ...ACTOR_KINDS]}
        onChange={({ target }) => onChange({ kind: target.value })}
      />
      <div className={styles.day}>
        <span aria-hidden="true">From</span>
        <Field
          bare
          label="First day"
          type="date"
          value={search.since ?? ''}
          onChange={({ target }) => onChange({ since: target.value })}
        />
      </div>
      <div className={styles.day}>
        <span aria-hidden="true">to</span>
        <Field
          bare
          label="Last day"
          type="date"
          value={search.until ?? ''}
          onChange={({ target }) => onChange({ until: target.value })}
        />
      </div>
    </FilterBar>
  );
}
