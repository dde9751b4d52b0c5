import type { Column } from '../../../components/data-table/data-table.tsx';
import { Time, TIME_WIDTHS } from '../../../components/time.tsx';
import { formatDuration } from '../../../lib/format.ts';
import { KeyButton } from '../../licenses/key-button.tsx';
import { StatusBadge } from '../../licenses/status-badge.tsx';
import { applicationName, type OwnReseller } from '../queries.ts';
import type { ResellerKey } from './queries.ts';

export const keyColumns = (
  reseller: OwnReseller | undefined,
  onOpen: (id: string) => void,
): readonly Column<ResellerKey>[] => [
  {
    id: 'key',
    header: 'Key',
    cell: ({ license_id, license_key }) => (
      <KeyButton licenseKey={license_key} onClick={() => onOpen(license_id)} />
    ),
  },
  { id: 'status', header: 'Status', width: '7rem', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'tier',
    header: 'Tier and duration',
    width: '11rem',
    from: 'tablet',
    cell: ({ tier, duration_days }) => (
      <>
        <bdi title={tier}>{tier}</bdi>, {formatDuration(duration_days)}
      </>
    ),
  },
  {
    id: 'app',
    header: 'Application',
    from: 'desktop',
    cell: ({ app_id }) => <bdi>{applicationName(reseller, app_id)}</bdi>,
  },
  {
    id: 'created',
    header: 'Bought',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
