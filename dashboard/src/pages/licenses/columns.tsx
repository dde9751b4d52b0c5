import type { Column } from '../../components/data-table/data-table.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatDuration } from '../../lib/format.ts';
import { UserLink } from '../../shell/user-link.tsx';
import { KeyButton } from './key-button.tsx';
import type { License } from './queries.ts';
import { StatusBadge } from './status-badge.tsx';

/** @param open shows the details of a license */
export const licenseColumns = (
  appId: string,
  open: (licenseId: string) => void,
): readonly Column<License>[] => [
  {
    id: 'key',
    header: 'Key',
    cell: ({ license_id, license_key }) => (
      <KeyButton licenseKey={license_key} onClick={() => open(license_id)} />
    ),
  },
  { id: 'status', header: 'Status', width: '6.5rem', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'tier', header: 'Tier', width: '8rem', from: 'tablet', cell: ({ tier }) => tier },
  {
    id: 'duration',
    header: 'Duration',
    width: '7rem',
    from: 'tablet',
    cell: ({ duration_days }) => formatDuration(duration_days),
  },
  {
    id: 'user',
    header: 'Redeemed by',
    width: '10rem',
    from: 'desktop',
    cell: ({ redeemed_by }) => (redeemed_by ? <UserLink appId={appId} userId={redeemed_by} /> : '—'),
  },
  { id: 'note', header: 'Note', width: '10rem', from: 'desktop', cell: ({ note }) => note ?? '—' },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
