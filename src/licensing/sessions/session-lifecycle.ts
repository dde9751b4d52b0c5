import type { Knex } from 'knex';
import type { Application } from '../../accounts/applications/applications.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { tokenDigest, type Tokens } from '../../foundation/tokens/tokens.ts';
import type { SessionIds } from './session-ids.ts';
import { findLive } from './session-liveness.ts';
import type { createSessionEnds } from './session-ends.ts';
import type { SessionLookup } from './session-lookup.ts';
import * as store from './session-store.ts';

/** A session lives exactly 24 hours. */
const SESSION_MS = 24 * 60 * 60 * 1000;

/** The form of the token: v1 returns the signed one, v2 the encrypted one. */
export type TokenForm = 'signed' | 'encrypted';

export interface PreparedSession {
  /** 128 random bits in base64url. */
  readonly sessionId: string;
  readonly token: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Details of a new session. */
export interface SessionOrigin {
  /** The tier in force. */
  readonly tier: string | null;
  /** The version of the program, as its client reports it. */
  readonly version: string | null;
  /** The address of the client. */
  readonly address: string;
}

/** How sessions begin and end. */
export interface SessionLifecycle {
  /** Creates the id and the token of a session: the slow part, before a transaction is opened. */
  prepare(appId: string, userId: string, form: TokenForm): Promise<PreparedSession>;
  /**
   * Opens a session inside the caller's transaction, which locks the user's row. It replaces a session of the same
   * machine; above the application's limit, the oldest sessions end.
   */
  begin(
    trx: Knex.Transaction,
    application: Application,
    userId: string,
    hwidDigest: Buffer,
    prepared: PreparedSession,
    origin: SessionOrigin,
  ): Promise<void>;
  /**
   * Ends a session: every verification that begins after this returns fails, on every node.
   * @param asker.signed whether the request is signed with the application's secret
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, SIGNATURE_REQUIRED
   */
  logout(appId: string, handle: string, asker: { readonly signed: boolean }): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly lookup: SessionLookup;
  readonly ids: SessionIds;
  readonly events: Events;
  readonly ends: Pick<ReturnType<typeof createSessionEnds>, 'endSome'>;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly random: Random;
}

export function createSessionLifecycle(deps: Dependencies): SessionLifecycle {
  const { knex, lookup, ids, events, ends, tokens, clock, random } = deps;

  return {
    async prepare(appId, userId, form) {
      const createdAt = clock.now();
      const expiresAt = new Date(createdAt.getTime() + SESSION_MS);
      const sessionId = random.bytes(16).toString('base64url');
      const signed = await tokens.signSessionToken({
        sessionId,
        userId,
        appId,
        issuedAt: createdAt,
        expiresAt,
      });
      const token = form === 'signed' ? signed : await tokens.encryptSessionToken(signed);
      return { sessionId, token, createdAt, expiresAt };
    },

    async begin(trx, application, userId, hwidDigest, prepared, { tier, version, address }) {
      const live = await store.findLiveSessions(trx, userId, prepared.createdAt);
      const replaced = live.filter((session) => session.hwid_digest.equals(hwidDigest));
      const others = live.filter((session) => !replaced.includes(session));
      const surplus = others.slice(0, Math.max(0, others.length + 1 - application.maxSessions));
      const digestOf = (session: { readonly session_digest: Buffer }) => session.session_digest;
      const { appId } = application;
      const sessionDigest = tokenDigest(prepared.sessionId);
      await ends.endSome(trx, appId, replaced.map(digestOf), 'replaced');
      await ends.endSome(trx, appId, surplus.map(digestOf), 'limit');
      await store.insertSession(trx, {
        session_digest: sessionDigest,
        token_digest: tokenDigest(prepared.token),
        app_id: appId,
        user_id: userId,
        hwid_digest: hwidDigest,
        created_at: prepared.createdAt,
        expires_at: prepared.expiresAt,
        version,
        address,
      });
      await ids.keep(trx, sessionDigest, prepared.sessionId);
      await events.record(trx, {
        type: 'session.created',
        appId,
        userId,
        sessionDigest,
        data: { tier, version, expires_at: prepared.expiresAt.toISOString() },
      });
    },

    async logout(appId, handle, { signed }) {
      const { sessionDigest } = await findLive(lookup, appId, handle, signed, clock.now());
      await knex.transaction(async (trx) => {
        const ended = await ends.endSome(trx, appId, [sessionDigest], 'logout');
        if (ended === 0) throw new ApiError('SESSION_INVALID');
      });
    },
  };
}
