import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data-table/data-table.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { type Ban, type BanKind, stateOf } from './queries.ts';
import { Target } from './target.tsx';

/** What the page calls the kinds. */
export const KIND_WORDS: Readonly<Record<BanKind, string>> = {
  user: 'User',
  hardware: 'Machine',
  network: 'Network',
};

/** What a ban is called in labels: its identifier distinguishes it from others of the same user. */
export const banName = ({ kind, network, ban_id }: Ban): string => network ?? `${KIND_WORDS[kind]} ${ban_id}`;

interface Options {
  readonly appId: string;
  readonly onLift: (ban: Ban) => void;
}

export const banColumns = ({ appId, onLift }: Options): readonly Column<Ban>[] => [
  { id: 'kind', header: 'Kind', width: '6.5rem', cell: ({ kind }) => KIND_WORDS[kind] },
  { id: 'target', header: 'Banned', cell: (ban) => <Target appId={appId} ban={ban} /> },
  {
    id: 'state',
    header: 'State',
    width: '7rem',
    from: 'tablet',
    cell: (ban) => (stateOf(ban) === 'active' ? <Badge tone="bad">active</Badge> : <Badge>expired</Badge>),
  },
  {
    id: 'reason',
    header: 'Reason',
    from: 'tablet',
    cell: ({ reason }) => (reason === null ? '—' : <bdi title={reason}>{reason}</bdi>),
  },
  {
    id: 'until',
    header: 'Until',
    width: TIME_WIDTHS.absolute,
    from: 'desktop',
    cell: ({ expires_at }) => <Time value={expires_at} absent="Until you lift it" />,
  },
  {
    id: 'created',
    header: 'Banned since',
    width: TIME_WIDTHS.relative,
    from: 'desktop',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Actions',
    width: '5.5rem',
    cell: (ban) => (
      <Button onClick={() => onLift(ban)}>
        Lift<span className="visually-hidden"> the ban of {banName(ban)}</span>
      </Button>
    ),
  },
];
