import { Link } from '@tanstack/react-router';
import type { Column } from '../../components/data-table/data-table.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import styles from './columns.module.css';
import type { User } from './queries.ts';
import { UserState } from './user-state.tsx';

export const userColumns = (appId: string): readonly Column<User>[] => [
  {
    id: 'name',
    header: 'User',
    cell: ({ user_id, username }) => (
      <Link to="/apps/$appId/users/$userId" params={{ appId, userId: user_id }} className={styles.name}>
        <bdi>{username}</bdi>
      </Link>
    ),
  },
  { id: 'email', header: 'Email', from: 'desktop', cell: ({ email }) => email ?? '—' },
  { id: 'state', header: 'State', width: '8.5rem', cell: (user) => <UserState user={user} /> },
  {
    id: 'tier',
    header: 'Tier',
    width: '8rem',
    from: 'tablet',
    cell: ({ subscription }) => subscription.tier ?? '—',
  },
  {
    id: 'until',
    header: 'Expires',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ subscription }) => <Time value={subscription.expires_at} form="relative" />,
  },
  {
    id: 'sessions',
    header: 'Sessions',
    width: '5.5rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ live_sessions }) => live_sessions,
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
