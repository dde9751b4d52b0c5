import type { ReactNode } from 'react';
import { IconButton } from '../components/button.tsx';
import { Callout } from '../components/callout.tsx';
import { Facts } from '../components/card.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { Loading } from '../components/skeleton.tsx';
import { Time } from '../components/time.tsx';
import { useLast } from '../lib/last.ts';
import styles from './audit-log.module.css';
import { type AuditSearch, kindLabel } from './filter.ts';
import type { AuditEntry, AuditSource } from './source.ts';

interface Props {
  readonly source: AuditSource;
  /** The entry of the address. */
  readonly id: string | undefined;
  readonly entry: AuditEntry | undefined;
  readonly isSought: boolean;
  /** Why it could not be read. */
  readonly error: Error | null;
  readonly onFilter: (members: AuditSearch) => void;
  readonly onClose: () => void;
}

/** The details of one entry, from which the reader can find those that are like it. */
export function EntryDrawer({ source, id, entry, isSought, error, onFilter, onClose }: Props) {
  const shown = useLast(entry);
  const details = id === undefined ? shown : entry;
  return (
    <Dialog kind="drawer" open={id !== undefined} onClose={onClose} title="Audit entry">
      {details ? (
        <Details entry={details} source={source} onFilter={onFilter} />
      ) : error ? (
        <ErrorState error={error} />
      ) : isSought ? (
        <Loading what="the entry" />
      ) : (
        <Callout tone="warn">This entry does not exist in this audit log.</Callout>
      )}
    </Dialog>
  );
}

function Details({ entry, source, onFilter }: Pick<Props, 'source' | 'onFilter'> & { entry: AuditEntry }) {
  const { actor, target, app_id: app } = entry;
  const like = (value: string, members: AuditSearch, link?: ReactNode) => (
    <span className={styles.value}>
      {link ?? <code>{value}</code>}
      <IconButton label={`Filter by ${value}`} icon="filter" onClick={() => onFilter(members)} />
    </span>
  );
  return (
    <>
      <Facts
        facts={[
          ['Action', like(entry.action, { action: entry.action })],
          ['Time', <Time key="time" value={entry.created_at} />],
          ['Actor', kindLabel(actor.kind)],
          ['Actor identifier', like(actor.id, { actor: actor.id }, source.linkTo?.(actor.id, entry))],
          ['IP address', actor.address ? like(actor.address, { from: actor.address }) : '—'],
          ['Target', target ? like(target, { target }, source.linkTo?.(target, entry)) : '—'],
          ...(app ? [['Application', like(app, { app }, source.linkTo?.(app, entry))] as const] : []),
          ['Entry identifier', <code key="id">{entry.audit_id}</code>],
        ]}
      />
      <h3>Details</h3>
      <CodeBlock text={JSON.stringify(entry.data, null, 2)} what="details" />
    </>
  );
}
