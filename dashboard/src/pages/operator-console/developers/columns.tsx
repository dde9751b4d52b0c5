import { Link } from '@tanstack/react-router';
import { Badge } from '../../../components/badge.tsx';
import type { Column } from '../../../components/data-table/data-table.tsx';
import { Name, nameClass } from '../../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../../components/time.tsx';
import type { Developer } from './queries.ts';

export const developerColumns: readonly Column<Developer>[] = [
  {
    id: 'email',
    header: 'Developer',
    cell: ({ developer_id: developerId, email }) => (
      <Link to="/admin/developers/$developerId" params={{ developerId }} className={nameClass} title={email}>
        <bdi>{email}</bdi>
      </Link>
    ),
  },
  { id: 'name', header: 'Name', from: 'desktop', cell: ({ name }) => (name ? <Name>{name}</Name> : '—') },
  {
    id: 'state',
    header: 'State',
    width: '7rem',
    cell: ({ account_status: state }) => <Badge tone={state === 'active' ? 'good' : 'bad'}>{state}</Badge>,
  },
  { id: 'plan', header: 'Plan', width: '9rem', from: 'tablet', cell: ({ plan }) => <Name>{plan.name}</Name> },
  {
    id: 'apps',
    header: 'Applications',
    width: '7rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ apps }) => apps,
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
];
