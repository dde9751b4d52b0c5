import type { Knex } from 'knex';
import type { EndReason, SessionRow } from './session-row.ts';

/** A session that has just been ended. */
export type EndedSession = Pick<SessionRow, 'session_digest' | 'created_at' | 'user_id'>;

const ENDED = ['session_digest', 'created_at', 'user_id'] as const;

export async function insertSession(
  trx: Knex.Transaction,
  row: Omit<SessionRow, 'ended_at' | 'end_reason' | 'last_seen_at'>,
): Promise<void> {
  await trx('sessions').insert(row);
}

/** A user's sessions that have neither ended nor expired, the oldest first. */
export async function findLiveSessions(
  db: Knex,
  userId: string,
  now: Date,
): Promise<Pick<SessionRow, 'session_digest' | 'hwid_digest'>[]> {
  return db<SessionRow>('sessions')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .where('expires_at', '>', now)
    .orderBy(['created_at', 'session_digest'])
    .select('session_digest', 'hwid_digest');
}

/** Ends every session of users that has neither ended nor expired. @returns these sessions */
export async function endSessionsOfUsers(
  trx: Knex.Transaction,
  userIds: readonly string[],
  reason: EndReason,
  endedAt: Date,
): Promise<EndedSession[]> {
  return trx<SessionRow>('sessions')
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .whereNull('ended_at')
    .where('expires_at', '>', endedAt)
    .update({ ended_at: endedAt, end_reason: reason }, [...ENDED]);
}

/** Ends the live session of an application whose digest begins like this. @returns the session if there is one */
export async function endSessionByBeginning(
  trx: Knex.Transaction,
  appId: string,
  beginning: Buffer,
  reason: EndReason,
  endedAt: Date,
): Promise<EndedSession | undefined> {
  // The length of a digest above the beginning, so that no digest with it is beyond.
  const last = Buffer.concat([beginning, Buffer.alloc(32, 0xff)]);
  const found = trx<SessionRow>('sessions')
    .where('session_digest', '>=', beginning)
    .where('session_digest', '<=', last)
    .orderBy('session_digest')
    .limit(1)
    .select('session_digest');
  const [session] = await trx<SessionRow>('sessions')
    .where('session_digest', found)
    .where({ app_id: appId })
    .whereNull('ended_at')
    .where('expires_at', '>', endedAt)
    .update({ ended_at: endedAt, end_reason: reason }, [...ENDED]);
  return session;
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
    .update({ ended_at: endedAt, end_reason: reason }, [...ENDED]);
}

/** Ends a session that has expired, so that it cannot be renewed. @returns 0 if it had ended before */
export async function endExpiredSession(
  trx: Knex.Transaction,
  sessionDigest: Buffer,
  reason: EndReason,
  endedAt: Date,
): Promise<number> {
  return trx<SessionRow>('sessions')
    .where({ session_digest: sessionDigest })
    .whereNull('ended_at')
    .update({ ended_at: endedAt, end_reason: reason });
}

/**
 * The same for all expired sessions of users that are bound to devices.
 * @param deviceId only those of one device
 */
export async function endExpiredSessionsOfUsers(
  trx: Knex.Transaction,
  userIds: readonly string[],
  reason: EndReason,
  endedAt: Date,
  deviceId?: string,
): Promise<void> {
  await trx<SessionRow>('sessions')
    .whereRaw('user_id = any (?::text[])', [[...userIds]])
    .whereNull('ended_at')
    .where((bound) =>
      deviceId === undefined ? bound.whereNotNull('device_id') : bound.where({ device_id: deviceId }),
    )
    .where('expires_at', '<=', endedAt)
    .update({ ended_at: endedAt, end_reason: reason });
}

/** Deletes sessions that expired. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('sessions').where('expires_at', '<', expiredBefore).limit(limit).select('session_digest');
  return db('sessions').whereIn('session_digest', some).delete();
}
