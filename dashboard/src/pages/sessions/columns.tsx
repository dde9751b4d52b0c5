import { Link } from '@tanstack/react-router';
import { IconButton } from '../../components/button.tsx';
import type { Column } from '../../components/data-table/data-table.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { nameClass } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatTime } from '../../lib/format.ts';
import type { LiveSession } from './queries.ts';

/** What can be ended: one session, or all sessions of its user. */
export interface Ending {
  readonly session: LiveSession;
  readonly isAll: boolean;
}

interface Options {
  readonly appId: string;
  readonly onEnd: (ending: Ending) => void;
  readonly onFilter: (userId: string) => void;
}

export const sessionColumns = ({ appId, onEnd, onFilter }: Options): readonly Column<LiveSession>[] => [
  {
    id: 'user',
    header: 'User',
    cell: ({ user_id, username }) => (
      <Link
        to="/apps/$appId/users/$userId"
        params={{ appId, userId: user_id }}
        className={nameClass}
        title={username}
      >
        <bdi>{username}</bdi>
      </Link>
    ),
  },
  {
    id: 'version',
    header: 'Version',
    width: '7rem',
    from: 'tablet',
    cell: ({ version }) => <span title={version ?? undefined}>{version ?? '—'}</span>,
  },
  {
    id: 'address',
    header: 'Address',
    width: '10rem',
    from: 'tablet',
    cell: ({ address }) => (address === null ? '—' : <code title={address}>{address}</code>),
  },
  {
    id: 'machine',
    header: 'Machine',
    width: '7rem',
    from: 'desktop',
    cell: ({ machine }) => <code>{machine}</code>,
  },
  {
    id: 'began',
    header: 'Began',
    width: TIME_WIDTHS.relative,
    from: 'desktop',
    cell: ({ began_at }) => <Time value={began_at} form="relative" />,
  },
  {
    id: 'seen',
    header: 'Last seen',
    width: TIME_WIDTHS.relative,
    cell: ({ last_seen_at }) => <Time value={last_seen_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Actions',
    width: '4.5rem',
    cell: (session) => {
      const { username, began_at, user_id } = session;
      const trigger = (
        <IconButton label={`Actions for ${username}, since ${formatTime(began_at)}`} icon="more" />
      );
      return (
        <Menu trigger={trigger}>
          <MenuItem onClick={() => onEnd({ session, isAll: false })}>End this session</MenuItem>
          <MenuItem isDangerous onClick={() => onEnd({ session, isAll: true })}>
            End all sessions of the user
          </MenuItem>
          <MenuItem onClick={() => onFilter(user_id)}>Show only this user</MenuItem>
        </Menu>
      );
    },
  },
];
