import { Link } from '@tanstack/react-router';
import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/data-table/data-table.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatNumber, plural } from '../../lib/format.ts';
import { sum } from '../../lib/sum.ts';
import styles from './columns.module.css';
import type { Application } from './queries.ts';

const TONES = { active: 'good', paused: 'warn', disabled: 'bad' } as const;

export const applicationColumns: readonly Column<Application>[] = [
  {
    id: 'name',
    header: 'Application',
    cell: ({ app_id, name }) => (
      <Link to="/apps/$appId" params={{ appId: app_id }} className={styles.name}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    id: 'status',
    header: 'Status',
    width: '7rem',
    cell: ({ status_code }) => <Badge tone={TONES[status_code]}>{status_code}</Badge>,
  },
  { id: 'users', header: 'Users', width: '6rem', isNumber: true, cell: ({ users }) => formatNumber(users) },
  {
    id: 'sessions',
    header: 'Live sessions',
    width: '7.5rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ live_sessions }) => formatNumber(live_sessions),
  },
  {
    id: 'licenses',
    header: 'Unused keys',
    width: '7.5rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ licenses }) => formatNumber(licenses.unused),
  },
  {
    id: 'logins',
    header: 'Logins, 14 days',
    width: '13rem',
    from: 'tablet',
    cell: ({ series }) => <RecentLogins values={series.logins} />,
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'desktop',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];

function RecentLogins({ values }: { readonly values: readonly number[] }) {
  const total = sum(values);
  return (
    <span className={styles.logins}>
      <Sparkline values={values} label={`${plural(total, 'login')} in ${values.length} days`} />
      <span aria-hidden="true">{formatNumber(total)}</span>
    </span>
  );
}
