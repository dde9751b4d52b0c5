import type { Knex } from 'knex';
import type pg from 'pg';
import type { ApplicationStatus, Pause } from '../applications/application-state.ts';

export type EndReason = 'logout' | 'replaced' | 'limit' | 'banned';

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
  trx: Knex.Transaction,
  userId: string,
  now: Date,
): Promise<Pick<SessionRow, 'session_digest' | 'hwid_digest'>[]> {
  return trx<SessionRow>('sessions')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .where('expires_at', '>', now)
    .orderBy(['created_at', 'session_digest'])
    .select('session_digest', 'hwid_digest');
}

/** Ends every session of a user that has not ended yet. */
export async function endSessionsOfUser(
  trx: Knex.Transaction,
  userId: string,
  reason: EndReason,
  endedAt: Date,
): Promise<void> {
  await trx('sessions')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .update({ ended_at: endedAt, end_reason: reason });
}

/** Ends sessions that have not ended yet. @returns how many */
export async function endSessions(
  db: Knex,
  sessionDigests: readonly Buffer[],
  reason: EndReason,
  endedAt: Date,
): Promise<number> {
  if (sessionDigests.length === 0) return 0;
  return db('sessions')
    .whereIn('session_digest', sessionDigests as Buffer[])
    .whereNull('ended_at')
    .update({ ended_at: endedAt, end_reason: reason });
}

/** Deletes sessions that expired. @returns how many */
export async function clearExpiredSessions(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db('sessions').where('expires_at', '<', expiredBefore).limit(limit).select('session_digest');
  return db('sessions').whereIn('session_digest', some).delete();
}

/** What verify-session needs to know, read in one statement. */
export interface SessionFacts extends Pause {
  readonly sessionDigest: Buffer;
  readonly appId: string;
  readonly userId: string;
  readonly username: string;
  readonly hwidDigest: Buffer;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly applicationStatus: ApplicationStatus;
  readonly hwidLock: boolean;
  readonly pauseSessions: boolean;
  readonly requireSubscription: boolean;
  readonly requireSignatures: boolean;
  readonly blockVpn: boolean;
  readonly vpnFailClosed: boolean;
  readonly hasClientBans: boolean;
  /** The stretch that decides the user's standing; null for a user who never had one. */
  readonly tier: string | null;
  readonly tierEndsAt: Date | null;
}

/**
 * The order by picks the stretch in force: the first to end of those that have not ended, otherwise one that has
 * ended. Its clock is the application's subscription clock.
 */
const STATEMENT = {
  name: 'find-sessions',
  rowMode: 'array' as const,
  text: `
    with found as (
      select 0 as kind, array_position($1::bytea[], token_digest) as place, s.* from sessions s
      where token_digest = any ($1::bytea[])
      union all
      select 1, array_position($2::bytea[], session_digest), s.* from sessions s
      where session_digest = any ($2::bytea[])
    )
    select f.kind, f.place, f.session_digest, f.app_id, f.user_id, u.username, f.hwid_digest, f.expires_at, f.ended_at,
      a.status, a.hwid_lock, a.pause_sessions, a.require_subscription, a.paused_at, a.paused_total_ms, p.tier, p.ends_at,
      a.require_signatures, a.block_vpn, a.vpn_fail_closed, a.has_client_bans
    from found f
    join users u on u.user_id = f.user_id
    join applications a on a.app_id = f.app_id and a.deleted_at is null
    left join lateral (
      select tier, ends_at from subscriptions where user_id = f.user_id
      order by ends_at > least(a.paused_at, $3::timestamptz) - a.paused_total_ms * interval '1 millisecond' desc, ends_at
      limit 1
    ) p on true`,
};

/**
 * Reads sessions by the digests of their tokens and of their ids, all in one statement.
 * @param now decides which subscription stretch is in force
 * @returns the facts of each handle in the order of the digests; undefined where there is no such session, or its
 *   application is gone
 */
export async function readSessionFacts(
  client: pg.ClientBase,
  tokenDigests: readonly Buffer[],
  sessionDigests: readonly Buffer[],
  now: Date,
): Promise<{ byToken: (SessionFacts | undefined)[]; bySessionId: (SessionFacts | undefined)[] }> {
  const { rows } = await client.query<FactsRow>({
    ...STATEMENT,
    values: [tokenDigests, sessionDigests, now],
  });
  const found = {
    byToken: tokenDigests.map((): SessionFacts | undefined => undefined),
    bySessionId: sessionDigests.map((): SessionFacts | undefined => undefined),
  };
  for (const row of rows) (row[0] === 0 ? found.byToken : found.bySessionId)[row[1] - 1] = toFacts(row);
  return found;
}

type FactsRow = [
  kind: number,
  place: number,
  sessionDigest: Buffer,
  appId: string,
  userId: string,
  username: string,
  hwidDigest: Buffer,
  expiresAt: Date,
  endedAt: Date | null,
  status: ApplicationStatus,
  hwidLock: boolean,
  pauseSessions: boolean,
  requireSubscription: boolean,
  pausedAt: Date | null,
  pausedTotalMs: number,
  tier: string | null,
  tierEndsAt: Date | null,
  requireSignatures: boolean,
  blockVpn: boolean,
  vpnFailClosed: boolean,
  hasClientBans: boolean,
];

function toFacts(row: FactsRow): SessionFacts {
  return {
    sessionDigest: row[2],
    appId: row[3],
    userId: row[4],
    username: row[5],
    hwidDigest: row[6],
    expiresAt: row[7],
    endedAt: row[8],
    applicationStatus: row[9],
    hwidLock: row[10],
    pauseSessions: row[11],
    requireSubscription: row[12],
    pausedAt: row[13],
    pausedTotalMs: row[14],
    tier: row[15],
    tierEndsAt: row[16],
    requireSignatures: row[17],
    blockVpn: row[18],
    vpnFailClosed: row[19],
    hasClientBans: row[20],
  };
}
