import { call } from '../../api/client.ts';
import { downloadFile } from '../../api/download.ts';
import { IconButton } from '../../components/button.tsx';
import { ImportDialog } from '../../components/import-dialog.tsx';
import { Menu, MenuItem, MenuLine } from '../../components/menu.tsx';
import { plural } from '../../lib/format.ts';
import { type LicenseFilter, toQuery, useLicensesChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly filter: LicenseFilter;
  readonly isImporting: boolean;
  readonly onImporting: (isImporting: boolean) => void;
}

/** Moves license keys in and out. An export has what the list shows. */
export function LicensePageActions({ appId, filter, isImporting, onImporting }: Props) {
  const input = { path: { app_id: appId }, query: toQuery(filter) };
  const changed = useLicensesChanged(appId);
  const importFile = async (file: File) => {
    const { imported } = await call('POST /api/v2/dev/apps/{app_id}/licenses/import', {
      path: { app_id: appId },
      file,
      once: true,
    });
    await changed();
    return `${plural(imported, 'license')} imported.`;
  };
  return (
    <>
      <Menu trigger={<IconButton label="Import and export" icon="more" look="plain" />}>
        <MenuItem onClick={() => onImporting(true)}>Import keys</MenuItem>
        <MenuLine />
        <MenuItem onClick={() => downloadFile('GET /api/v2/dev/apps/{app_id}/licenses/export', input)}>
          Export the list as CSV
        </MenuItem>
        <MenuItem onClick={() => downloadFile('GET /api/v2/dev/apps/{app_id}/licenses/export/ndjson', input)}>
          Export the list as NDJSON
        </MenuItem>
      </Menu>
      <ImportDialog
        open={isImporting}
        onClose={() => onImporting(false)}
        title="Import license keys"
        description="From another system, or from an export. Either all lines are imported or none."
        accept=".csv,text/csv"
        onImport={importFile}
      >
        <p>
          A CSV file whose first line names the columns: <code>license_key</code>, <code>tier</code> and{' '}
          <code>duration_days</code> (empty is a lifetime), and if you want <code>note</code>,{' '}
          <code>redeem_by</code>, <code>redeemed_at</code>, <code>status</code> and <code>ban_reason</code>.
          At most 100,000 lines.
        </p>
      </ImportDialog>
    </>
  );
}
