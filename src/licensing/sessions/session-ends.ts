import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { digestBeginning } from './session-ref.ts';
import type { EndReason } from './session-row.ts';
import * as store from './session-store.ts';

/** A statement has at most 65,535 parameters. */
const RECORDED_AT_ONCE = 1000;

/** How sessions end, all inside the caller's transaction. */
export interface SessionEnds {
  /**
   * Ends one session for the developer of the application.
   * @throws ApiError SESSION_NOT_FOUND
   */
  endOne(trx: Knex.Transaction, actor: Actor, appId: string, sessionRef: string): Promise<void>;
  /** Ends every session of a user; the transaction blocks logins. @returns how many */
  endAllOf(trx: Knex.Transaction, appId: string, userId: string, reason: EndReason): Promise<number>;
  /** The same for many users of an application. */
  endAllOfUsers(
    trx: Knex.Transaction,
    appId: string,
    userIds: readonly string[],
    reason: EndReason,
  ): Promise<number>;
}

interface Internal extends SessionEnds {
  /** Ends some sessions. @returns how many had not ended yet */
  endSome(
    trx: Knex.Transaction,
    appId: string,
    sessionDigests: readonly Buffer[],
    reason: EndReason,
  ): Promise<number>;
}

interface Dependencies {
  readonly events: Events;
  readonly clock: Clock;
}

export function createSessionEnds({ events, clock }: Dependencies): Internal {
  /** @returns how many ended */
  async function record(
    trx: Knex.Transaction,
    appId: string,
    ended: readonly store.EndedSession[],
    reason: EndReason,
  ): Promise<number> {
    for (let start = 0; start < ended.length; start += RECORDED_AT_ONCE) {
      const part = ended.slice(start, start + RECORDED_AT_ONCE);
      await events.record(trx, ...part.map((session) => toChange(appId, session, reason)));
    }
    return ended.length;
  }

  const endAllOfUsers: SessionEnds['endAllOfUsers'] = async (trx, appId, userIds, reason) => {
    const now = clock.now();
    await store.endExpiredSessionsOfUsers(trx, userIds, reason, now);
    return record(trx, appId, await store.endSessionsOfUsers(trx, userIds, reason, now), reason);
  };

  return {
    async endSome(trx, appId, sessionDigests, reason) {
      return record(trx, appId, await store.endSessions(trx, sessionDigests, reason, clock.now()), reason);
    },

    async endOne(trx, actor, appId, sessionRef) {
      const beginning = digestBeginning(sessionRef);
      const ended =
        beginning && (await store.endSessionByBeginning(trx, appId, beginning, 'ended', clock.now()));
      if (!ended) throw new ApiError('SESSION_NOT_FOUND');
      await events.record(trx, { ...toChange(appId, ended, 'ended'), actor, target: sessionRef });
    },

    endAllOf: (trx, appId, userId, reason) => endAllOfUsers(trx, appId, [userId], reason),

    endAllOfUsers,
  };
}

function toChange(appId: string, session: store.EndedSession, reason: EndReason) {
  return {
    type: 'session.ended',
    appId,
    userId: session.user_id,
    sessionDigest: session.session_digest,
    data: { reason, began_at: session.created_at.toISOString() },
  } as const;
}
