import { call } from '../../api/client.ts';
import { downloadFile } from '../../api/download.ts';
import { IconButton } from '../../components/button.tsx';
import { ImportDialog } from '../../components/import-dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { plural } from '../../lib/format.ts';
import { toFilter, type UserFilter, useUsersChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly filter: UserFilter;
  readonly isImporting: boolean;
  readonly onImporting: (isImporting: boolean) => void;
}

/** Moves users in and out. An export has what the list shows. */
export function UserPageActions({ appId, filter, isImporting, onImporting }: Props) {
  const path = { app_id: appId };
  const input = { path, query: { ...toFilter(filter), ...(filter.sort && { sort: filter.sort }) } };
  const changed = useUsersChanged(appId);
  const importFile = async (file: File) => {
    const sent = { path, file, once: true };
    const { imported } = /\.(ndjson|jsonl)$/i.test(file.name)
      ? await call('POST /api/v2/dev/apps/{app_id}/users/import/ndjson', sent)
      : await call('POST /api/v2/dev/apps/{app_id}/users/import', sent);
    await changed();
    return `${plural(imported, 'user')} imported.`;
  };
  return (
    <>
      <Menu trigger={<IconButton label="Import and export" icon="more" look="plain" />}>
        <MenuItem onClick={() => onImporting(true)}>Import users</MenuItem>
        <MenuLine />
        <MenuItem onClick={() => downloadFile('GET /api/v2/dev/apps/{app_id}/users/export', input)}>
          Export the list as CSV
        </MenuItem>
        <MenuItem onClick={() => downloadFile('GET /api/v2/dev/apps/{app_id}/users/export/ndjson', input)}>
          Export the list as NDJSON
        </MenuItem>
      </Menu>
      <ImportDialog
        open={isImporting}
        onClose={() => onImporting(false)}
        title="Import users"
        description="From another system, with their password hashes. Either all users are created or none."
        accept=".csv,.ndjson,.jsonl,text/csv"
        onImport={importFile}
      >
        <p>
          A CSV file whose first line names the columns, or NDJSON with the same members:{' '}
          <code>username</code>, and if you want <code>email</code>, <code>role</code>,{' '}
          <code>password_hash</code> (bcrypt or Argon2), <code>tier</code> with <code>days</code> or{' '}
          <code>expires_at</code>. At most 50,000 users.
        </p>
      </ImportDialog>
    </>
  );
}
