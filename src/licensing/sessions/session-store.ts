import type { Knex } from 'knex';

export type EndReason =
  'logout' | 'replaced' | 'limit' | 'banned' | 'ended' | 'password_changed' | 'hwid_reset' | 'deleted';

/** A session that has just been ended. */
export type EndedSession = Pick<SessionRow, 'session_digest' | 'created_at'>;

export interface SessionRow {
  readonly session_digest: Buffer;
  readonly token_digest: Buffer;
  readonly app_id: string;
  readonly user_id: string;
  readonly hwid_digest: Buffer;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly end_reason: EndReason | null;
}

export async function insertSession(
  trx: Knex.Transaction,
  row: Omit<SessionRow, 'ended_at' | 'end_reason'>,
): Promise<void> {
  await trx('sessions').insert(row);
}

/** A user's sessions that have neither ended nor expired, the oldest first. */
export async function findLiveSessions(
  db: Knex,
  userId: string,
  now: Date,
): Promise<Pick<SessionRow, 'session_digest' | 'hwid_digest' | 'created_at' | 'expires_at'>[]> {
  return db<SessionRow>('sessions')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .where('expires_at', '>', now)
    .orderBy(['created_at', 'session_digest'])
    .select('session_digest', 'hwid_digest', 'created_at', 'expires_at');
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

/** Ends every session of a user that has neither ended nor expired. @returns these sessions */
export async function endSessionsOfUser(
  trx: Knex.Transaction,
  userId: string,
  reason: EndReason,
  endedAt: Date,
): Promise<EndedSession[]> {
  return trx<SessionRow>('sessions')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .where('expires_at', '>', endedAt)
    .update({ ended_at: endedAt, end_reason: reason }, ['session_digest', 'created_at']);
}

/** Ends sessions that have not ended yet. @returns these sessions */
export async function endSessions(
  trx: Knex.Transaction,
  sessionDigests: readonly Buffer[],
  reason: EndReason,
  endedAt: Date,
): Promise<EndedSession[]> {
  if (sessionDigests.length === 0) return [];
  return trx<SessionRow>('sessions')
    .whereIn('session_digest', sessionDigests as Buffer[])
    .whereNull('ended_at')
    .update({ ended_at: endedAt, end_reason: reason }, ['session_digest', 'created_at']);
}

/** How many sessions of an application have neither ended nor expired. */
export async function countLiveSessionsOfApplication(db: Knex, appId: string, now: Date): Promise<number> {
  const [row] = await db('sessions')
    .where({ app_id: appId })
    .whereNull('ended_at')
    .where('expires_at', '>', now)
    .count<{ count: number }[]>();
  return row!.count;
}

/** Deletes sessions that expired. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('sessions').where('expires_at', '<', expiredBefore).limit(limit).select('session_digest');
  return db('sessions').whereIn('session_digest', some).delete();
}
