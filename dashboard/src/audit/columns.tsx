import type { Column } from '../components/data-table/data-table.tsx';
import { NameButton } from '../components/name.tsx';
import { Time, TIME_WIDTHS } from '../components/time.tsx';
import { kindLabel } from './filter.ts';
import type { AuditEntry } from './source.ts';

export const auditColumns = (onOpen: (id: string) => void): readonly Column<AuditEntry>[] => [
  {
    id: 'action',
    header: 'Action',
    cell: ({ audit_id, action }) => (
      <NameButton title={action} onClick={() => onOpen(audit_id)}>
        <code>{action}</code>
      </NameButton>
    ),
  },
  {
    id: 'actor',
    header: 'Actor',
    width: '8.5rem',
    from: 'tablet',
    cell: ({ actor }) => <span title={actor.id}>{kindLabel(actor.kind)}</span>,
  },
  {
    id: 'target',
    header: 'Target',
    from: 'tablet',
    cell: ({ target }) => (target ? <code title={target}>{target}</code> : '—'),
  },
  {
    id: 'address',
    header: 'IP address',
    width: '9rem',
    from: 'desktop',
    cell: ({ actor }) => (actor.address ? <span title={actor.address}>{actor.address}</span> : '—'),
  },
  {
    id: 'time',
    header: 'Time',
    width: TIME_WIDTHS.relative,
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
