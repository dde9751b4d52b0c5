import { plural } from '../../../lib/format.ts';
import type { Failure } from './bulk.ts';
import styles from './bulk-dialog.module.css';

/** The failures that the dialog shows; thousands would not be read. */
const SHOWN = 100;

interface Props {
  readonly failures: readonly Failure[];
  readonly nameOf: (id: string) => string;
}

/** What stayed as it was, and why. */
export function Failures({ failures, nameOf }: Props) {
  if (failures.length === 0) return null;
  return (
    <div className={styles.failures} tabIndex={0} role="region" aria-label="Not changed">
      <h3>{plural(failures.length, 'failure')}</h3>
      <ul>
        {failures.slice(0, SHOWN).map(({ id, code, detail, requestId }, at) => (
          <li key={id ?? at}>
            {id !== undefined && (
              <strong>
                <bdi>{nameOf(id)}</bdi>
              </strong>
            )}{' '}
            {detail} <code>{code}</code> <code>{requestId}</code>
          </li>
        ))}
      </ul>
      {failures.length > SHOWN && <p>and {plural(failures.length - SHOWN, 'other')}</p>}
    </div>
  );
}
