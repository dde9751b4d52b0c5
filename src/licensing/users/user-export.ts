import { csvOf, jsonLinesOf } from '../../foundation/tabular-data/tabular-data.ts';
import type { UserRecord } from './user-record.ts';

export type ExportFormat = 'text/csv' | 'application/x-ndjson';

const COLUMNS = {
  user_id: 'user_id',
  username: 'username',
  email: 'email',
  role: 'role',
  hwid_bound: 'hwid_bound',
  banned: 'banned',
  tier: 'tier',
  expires_at: 'expires_at',
  created_at: 'created_at',
} as const;

type Line = Readonly<Record<keyof typeof COLUMNS, string | boolean | null>>;

/** Users as text, one chunk for each page. */
export function exportedText(
  pages: AsyncIterable<readonly UserRecord[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  const lines = linesOf(pages);
  return format === 'text/csv' ? csvOf(lines, COLUMNS) : jsonLinesOf(lines);
}

async function* linesOf(pages: AsyncIterable<readonly UserRecord[]>): AsyncGenerator<Line[]> {
  for await (const page of pages) yield page.map(toLine);
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
