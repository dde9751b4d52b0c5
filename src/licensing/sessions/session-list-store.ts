import type { Knex } from 'knex';
import type { SessionRow } from './session-row.ts';

/** What lists show of a session. */
export type ListedSession = Pick<
  SessionRow,
  | 'session_digest'
  | 'user_id'
  | 'hwid_digest'
  | 'created_at'
  | 'expires_at'
  | 'version'
  | 'address'
  | 'last_seen_at'
>;

const COLUMNS = [
  'session_digest',
  'user_id',
  'hwid_digest',
  'created_at',
  'expires_at',
  'version',
  'address',
  'last_seen_at',
] as const;

/** A user's sessions that have neither ended nor expired, the oldest first. */
export async function listLiveSessionsOfUser(db: Knex, userId: string, now: Date): Promise<ListedSession[]> {
  return db<SessionRow>('sessions')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .where('expires_at', '>', now)
    .orderBy(['created_at', 'session_digest'])
    .select(...COLUMNS);
}

/** Where a page begins. */
export interface SessionPlace {
  readonly expiresAt: Date;
  /** The beginning of the digest. */
  readonly digest: Buffer;
}

/** The live sessions of an application, newest first, because all sessions live equally long. */
export async function listLiveSessions(
  db: Knex,
  appId: string,
  now: Date,
  { after, limit }: { readonly after: SessionPlace | undefined; readonly limit: number },
): Promise<ListedSession[]> {
  const query = db<SessionRow>('sessions')
    .where({ app_id: appId })
    .whereNull('ended_at')
    .where('expires_at', '>', now)
    .orderBy([
      { column: 'expires_at', order: 'desc' },
      { column: 'session_digest', order: 'desc' },
    ])
    .limit(limit)
    .select(...COLUMNS);
  if (after) void query.whereRaw('(expires_at, session_digest) < (?, ?)', [after.expiresAt, after.digest]);
  return query;
}

/** How many live sessions each of many users has; users without any are omitted. */
export async function countLiveSessions(
  db: Knex,
  userIds: readonly string[],
  now: Date,
): Promise<Map<string, number>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: { user_id: string; live: number }[] }>(
    `select user_id, count(*)::integer as live from sessions
     where user_id = any (?::text[]) and ended_at is null and expires_at > ? group by user_id`,
    [[...userIds], now],
  );
  return new Map(rows.map((row) => [row.user_id, row.live]));
}
