import type { Schemas } from '../../api/client.ts';
import { Badge } from '../badge.tsx';
import { IconButton } from '../button.tsx';
import type { Column } from '../data-table/data-table.tsx';
import { Name } from '../name.tsx';
import { Time, TIME_WIDTHS } from '../time.tsx';

type Token = Schemas['ApiToken'];

const isOver = ({ expires_at }: Token) => expires_at !== null && Date.parse(expires_at) <= Date.now();

/** The columns of a list of tokens. @param scopes how it shows what a token can do */
export const tokenColumns = (
  scopes: Column<Token>,
  revoke: (token: Token) => void,
): readonly Column<Token>[] => [
  { id: 'name', header: 'Name', cell: ({ name }) => <Name>{name}</Name> },
  scopes,
  {
    id: 'used',
    header: 'Last used',
    width: TIME_WIDTHS.relative,
    cell: ({ last_used_at }) => <Time value={last_used_at} form="relative" absent="Never" />,
  },
  {
    id: 'expires',
    header: 'Expires',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: (token) =>
      isOver(token) ? (
        <Badge tone="warn">expired</Badge>
      ) : (
        <Time value={token.expires_at} form="relative" absent="Never" />
      ),
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'desktop',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Revoke',
    width: '4.5rem',
    cell: (token) => <IconButton label={`Revoke ${token.name}`} icon="close" onClick={() => revoke(token)} />,
  },
];
