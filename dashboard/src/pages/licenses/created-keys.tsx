import type { Schemas } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { DialogActions } from '../../components/dialog.tsx';
import { Callout } from '../../components/callout.tsx';
import { csvRow, saveAs } from '../../lib/download.ts';
import { formatNumber, plural } from '../../lib/format.ts';
import styles from './create-dialog.module.css';

/** The keys that the dialog shows. A file has all of them. */
const SHOWN = 100;

interface Props {
  readonly licenses: readonly Schemas['CreatedLicense'][];
  readonly onClose: () => void;
}

/** The keys that were just created. */
export function CreatedKeys({ licenses, onClose }: Props) {
  const keys = licenses.map(({ license_key }) => license_key);
  const save = () => {
    const rows = licenses.map((license) =>
      csvRow([license.license_id, license.license_key, license.tier, license.duration_days, license.note]),
    );
    const header = csvRow(['license_id', 'license_key', 'tier', 'duration_days', 'note']);
    saveAs(`licenses-${licenses.length}.csv`, header + rows.join(''), 'text/csv');
  };
  return (
    <>
      <Callout tone="good">{plural(licenses.length, 'key')} created. You find them in the list, too.</Callout>
      <pre className={styles.keys} tabIndex={0} aria-label="Created keys">
        {keys.slice(0, SHOWN).join('\n')}
        {keys.length > SHOWN && `\n… and ${formatNumber(keys.length - SHOWN)} more`}
      </pre>
      <DialogActions>
        <CopyButton labeled text={keys.join('\n')} what={keys.length === 1 ? 'key' : 'all keys'} />
        <Button icon="download" onClick={save}>
          Save as CSV
        </Button>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
