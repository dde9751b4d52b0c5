import { stringify } from 'csv-stringify/sync';
import type { UserRecord } from './user-directory.ts';

export type ExportFormat = 'text/csv' | 'application/x-ndjson';

const COLUMNS = [
  'user_id',
  'username',
  'email',
  'role',
  'hwid_bound',
  'banned',
  'tier',
  'expires_at',
  'created_at',
] as const;

type Line = Readonly<Record<(typeof COLUMNS)[number], string | boolean | null>>;

/** Users as text, a part for each page of them. */
export async function* exportedText(
  pages: AsyncIterable<readonly UserRecord[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'text/csv') yield `${COLUMNS.join(',')}\n`;
  for await (const page of pages) {
    const lines = page.map(toLine);
    yield format === 'text/csv' ? toCsv(lines) : lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
}

/** By RFC 4180. Cells that a spreadsheet would run as formulas are made texts. */
function toCsv(lines: readonly Line[]): string {
  return stringify([...lines], {
    columns: [...COLUMNS],
    escape_formulas: true,
    cast: { boolean: String },
  });
}

function toLine(user: UserRecord): Line {
  const { standing } = user.subscription;
  const active = standing.status === 'active' ? standing : undefined;
  return {
    user_id: user.userId,
    username: user.username,
    email: user.email,
    role: user.role,
    hwid_bound: user.hwidBound,
    banned: user.ban !== null,
    tier: active?.tier ?? null,
    expires_at: active?.expiresAt.toISOString() ?? null,
    created_at: user.createdAt.toISOString(),
  };
}
