import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { asCursorList } from '../../api/whole-list.ts';
import { Button } from '../../components/button.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { SearchField, Toolbar } from '../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Select } from '../../components/field.tsx';
import { FileDrop } from '../../components/file-drop.tsx';
import { Usage } from '../../components/usage.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { useChangeSearch } from '../../lib/change-search.ts';
import { oneOf } from '../../lib/search.ts';
import { sum } from '../../lib/sum.ts';
import { Page } from '../../shell/page.tsx';
import { fileColumns } from './columns.tsx';
import { FileDrawer } from './file-drawer.tsx';
import styles from './files.module.css';
import { filesQuery, type HostedFile, MOST_FILES } from './queries.ts';
import { filesRoute } from './route.ts';
import { type Chosen, UploadDialog } from './upload-dialog.tsx';

const FILTERS = ['public', 'session'] as const;

/** The files that programs download. */
export function FilesPage() {
  const { appId } = filesRoute.useParams();
  const search = filesRoute.useSearch();
  const files = useQuery(filesQuery(appId));
  const [chosen, setChosen] = useState<Chosen>();
  const all = useMemo(() => files.data ?? [], [files.data]);
  const access = oneOf(FILTERS, search.access);
  const shown = useMemo(() => matching(all, search.q ?? '', access), [all, search.q, access]);

  const change = useChangeSearch(filesRoute);
  return (
    <Page
      title="Files"
      description="What your program downloads from the service: updates, plug-ins and data."
    >
      <div className={styles.above}>
        <FileDrop label="Upload a file" onFile={(file) => !chosen && setChosen({ file })}>
          Drop it anywhere on this page, or choose it. The default limits are 1 GB for a file and 10 GB for
          all files of your account.
        </FileDrop>
        {all.length > 0 && <UsageOfFiles files={all} />}
      </div>
      {all.length > 0 && (
        <Toolbar>
          <SearchField
            label="Part of a name or version"
            value={search.q ?? ''}
            onChange={(q) => change({ q })}
          />
          <Select
            bare
            label="Access"
            value={access ?? ''}
            options={[
              ['', 'Any access'],
              ['public', 'Every client'],
              ['session', 'Signed-in users'],
            ]}
            onChange={({ target }) => change({ access: target.value })}
          />
        </Toolbar>
      )}
      <DataTable
        label="files"
        list={asCursorList(files, shown)}
        columns={fileColumns((file) => change({ file }))}
        idOf={({ file_id }) => file_id}
        nameOf={({ name }) => name}
        currentId={all.find(({ name }) => name === search.file)?.file_id}
        empty={
          all.length > 0 ? (
            <EmptyState
              icon="search"
              title="No file matches"
              action={<Button onClick={() => change({ q: '', access: '' })}>Clear the filters</Button>}
            >
              A search finds parts of names and of versions.
            </EmptyState>
          ) : (
            <EmptyState icon="file" title="No files yet">
              Upload the installer of your program, and only your users can download it.
            </EmptyState>
          )
        }
      />
      <FileDrawer
        appId={appId}
        name={search.file}
        onReplace={(replaced, file) => setChosen({ file, replaced })}
        onClose={() => change({ file: '' })}
      />
      <UploadDialog appId={appId} chosen={chosen} files={all} onClose={() => setChosen(undefined)} />
    </Page>
  );
}

function matching(all: readonly HostedFile[], text: string, access: 'public' | 'session' | undefined) {
  const wanted = text.toLowerCase();
  return all.filter(
    ({ name, version, authenticated_only }) =>
      (access === undefined || authenticated_only === (access === 'session')) &&
      (name.toLowerCase().includes(wanted) || (version ?? '').toLowerCase().includes(wanted)),
  );
}

function UsageOfFiles({ files }: { readonly files: readonly HostedFile[] }) {
  const bytes = sum(files.map(({ size }) => size));
  return (
    <div className={styles.usage}>
      <Usage label="Files" used={files.length} limit={MOST_FILES} />
      <p className={styles.total}>{formatBytes(bytes)} in this application</p>
    </div>
  );
}
