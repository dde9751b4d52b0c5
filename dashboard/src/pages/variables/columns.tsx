import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/data-table/data-table.tsx';
import { NameButton } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { bytesOf, formatBytes } from '../../lib/bytes.ts';
import { type Variable, VISIBILITIES } from './queries.ts';

/** The part of a value that a row can show. */
const START = 160;

/** @param open shows the details of a variable */
export const variableColumns = (open: (name: string) => void): readonly Column<Variable>[] => [
  {
    id: 'name',
    header: 'Name',
    width: '32%',
    cell: ({ name }) => <NameButton onClick={() => open(name)}>{name}</NameButton>,
  },
  {
    id: 'value',
    header: 'Value',
    from: 'tablet',
    cell: ({ value }) => (
      <bdi>
        <code>{value.slice(0, START)}</code>
      </bdi>
    ),
  },
  {
    id: 'visibility',
    header: 'Readable by',
    width: '9.5rem',
    cell: ({ visibility }) => (
      <Badge tone={visibility === 'public' ? 'neutral' : 'accent'}>{VISIBILITIES[visibility]}</Badge>
    ),
  },
  {
    id: 'size',
    header: 'Size',
    width: '7rem',
    from: 'desktop',
    isNumber: true,
    cell: ({ value }) => formatBytes(bytesOf(value)),
  },
  {
    id: 'updated',
    header: 'Changed',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ updated_at }) => <Time value={updated_at} form="relative" />,
  },
];
