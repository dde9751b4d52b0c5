import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/data-table/data-table.tsx';
import { NameButton } from '../../components/name.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import type { HostedFile } from './queries.ts';

/** The start of a digest, enough to distinguish two builds. */
const START = 12;

/** Who can download a file. */
export function Access({ file }: { readonly file: Pick<HostedFile, 'authenticated_only'> }) {
  return file.authenticated_only ? <Badge tone="accent">Signed-in users</Badge> : <Badge>Every client</Badge>;
}

/** @param open shows the details of a file */
export const fileColumns = (open: (name: string) => void): readonly Column<HostedFile>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ name }) => <NameButton onClick={() => open(name)}>{name}</NameButton>,
  },
  {
    id: 'version',
    header: 'Version',
    width: '9rem',
    from: 'tablet',
    cell: ({ version }) => <bdi>{version ?? '—'}</bdi>,
  },
  { id: 'size', header: 'Size', width: '6.5rem', isNumber: true, cell: ({ size }) => formatBytes(size) },
  {
    id: 'sha256',
    header: 'SHA-256',
    width: '9.5rem',
    from: 'desktop',
    cell: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, START)}…</code>,
  },
  { id: 'access', header: 'Access', width: '9.5rem', from: 'tablet', cell: (file) => <Access file={file} /> },
  {
    id: 'updated',
    header: 'Changed',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ updated_at }) => <Time value={updated_at} form="relative" />,
  },
];
