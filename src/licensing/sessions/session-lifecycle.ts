import type { Knex } from 'knex';
import type { Application } from '../../accounts/applications/applications.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { tokenDigest, type Tokens } from '../../foundation/tokens/tokens.ts';
import type { SessionIds } from './session-ids.ts';
import { assertDevice, assertLive, findByHandle, type Proof } from './session-liveness.ts';
import type { createSessionEnds } from './session-ends.ts';
import type { SessionLookup } from './session-lookup.ts';
import * as store from './session-store.ts';

/** A session lives exactly 24 hours. */
const SESSION_MS = 24 * 60 * 60 * 1000;

/** How long after its end a device can renew a session without the password. */
const RENEWABLE_MS = 7 * 24 * 60 * 60 * 1000;

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
  /** The device that it is bound to. */
  readonly deviceId: string | null;
}

/** A session that its device may renew. */
export interface Renewable {
  readonly appId: string;
  readonly userId: string;
  readonly sessionDigest: Buffer;
  readonly isLive: boolean;
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
   * A session that has expired ends, too, so that its device cannot renew it.
   * @throws ApiError those of findLive
   */
  logout(appId: string, handle: string, proof: Proof): Promise<void>;
  /**
   * Finds the session that a device renews: live, or expired within the last 7 days.
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, DEVICE_SIGNATURE_INVALID, DEVICE_MISMATCH
   */
  findRenewable(appId: string, handle: string, trust: ClientTrust | undefined): Promise<Renewable>;
  /**
   * Ends a session for the one that replaces it, inside the caller's transaction, which has locked the user.
   * @throws ApiError SESSION_INVALID if it has ended meanwhile
   */
  endRenewed(trx: Knex.Transaction, session: Renewable): Promise<void>;
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

    async begin(trx, application, userId, hwidDigest, prepared, origin) {
      const { tier, version, address, deviceId } = origin;
      const live = await store.findLiveSessions(trx, userId, prepared.createdAt);
      const replaced = live.filter((session) => session.hwid_digest.equals(hwidDigest));
      const others = live.filter((session) => !replaced.includes(session));
      const surplus = others.slice(0, Math.max(0, others.length + 1 - application.maxSessions));
      const digestOf = (session: { readonly session_digest: Buffer }) => session.session_digest;
      const { appId } = application;
      const sessionDigest = tokenDigest(prepared.sessionId);
      if (deviceId !== null) {
        const { createdAt } = prepared;
        await store.endExpiredSessionsOfUsers(trx, [userId], 'replaced', createdAt, deviceId);
      }
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
        device_id: deviceId,
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

    async findRenewable(appId, handle, trust) {
      const now = clock.now();
      const facts = await findByHandle(lookup, handle);
      if (!facts || facts.appId !== appId || facts.endedAt) throw new ApiError('SESSION_INVALID');
      if (facts.deviceId === null) throw new ApiError('DEVICE_MISMATCH');
      assertDevice(facts.deviceId, trust);
      if (now.getTime() >= facts.expiresAt.getTime() + RENEWABLE_MS) throw new ApiError('SESSION_EXPIRED');
      const { userId, sessionDigest, expiresAt } = facts;
      return { appId, userId, sessionDigest, isLive: expiresAt > now };
    },

    async endRenewed(trx, { appId, sessionDigest, isLive }) {
      // The end of a session that has expired is no event.
      const ended = isLive
        ? await ends.endSome(trx, appId, [sessionDigest], 'replaced')
        : await store.endExpiredSession(trx, sessionDigest, 'replaced', clock.now());
      if (ended === 0) throw new ApiError('SESSION_INVALID');
    },

    async logout(appId, handle, proof) {
      const now = clock.now();
      const facts = await findByHandle(lookup, handle);
      if (facts?.appId === appId && facts.expiresAt <= now && facts.deviceId !== null) {
        assertDevice(facts.deviceId, proof.trust);
        await knex.transaction((trx) => store.endExpiredSession(trx, facts.sessionDigest, 'logout', now));
      }
      const { sessionDigest } = assertLive(facts, appId, proof, now);
      await knex.transaction(async (trx) => {
        const ended = await ends.endSome(trx, appId, [sessionDigest], 'logout');
        if (ended === 0) throw new ApiError('SESSION_INVALID');
      });
    },
  };
}
