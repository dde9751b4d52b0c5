import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Application } from '../applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Keys } from '../keys/keys.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { Random } from '../platform/random.ts';
import { standing, type Standing } from '../subscriptions/subscriptions.ts';
import { tokenDigest, type Tokens } from '../tokens/tokens.ts';
import type { Vpn } from '../vpn/vpn.ts';
import type { HandleKind, SessionFacts, SessionLookup } from './session-lookup.ts';
import * as store from './session-store.ts';

/** A session lives exactly 24 hours. */
export const SESSION_MS = 24 * 60 * 60 * 1000;

/** How long an expired session is still told apart from one that never was. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** The form of the token: v1 gives the signed one, v2 the encrypted one. */
export type TokenForm = 'signed' | 'encrypted';

export interface PreparedSession {
  /** 128 random bits in base64url. */
  readonly sessionId: string;
  readonly token: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface Verification {
  readonly userId: string;
  readonly username: string;
  readonly expiresAt: Date;
  readonly subscription: Standing;
}

/** Who asks about a session. */
export interface Asker {
  /** The machine that must be the session's, where the application locks hardware. */
  readonly hwid?: string | undefined;
  readonly client: Client;
  /** The request could have been signed and is not. */
  readonly unsigned?: boolean;
}

export interface Sessions {
  /** Makes the id and the token of a session: the slow part, before a transaction is opened. */
  prepare(appId: string, userId: string, form: TokenForm): Promise<PreparedSession>;
  /**
   * Begins a session inside the caller's transaction, which holds the user's row. The same machine's own session is
   * replaced; above the application's limit the oldest ones end.
   */
  begin(
    trx: Knex.Transaction,
    application: Application,
    userId: string,
    hwidDigest: Buffer,
    prepared: PreparedSession,
  ): Promise<void>;
  /**
   * Whether a session is valid now.
   * @param handle the signed token, the encrypted token or the session id
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, APPLICATION_INACTIVE, APPLICATION_PAUSED, HWID_MISMATCH,
   *   SUBSCRIPTION_EXPIRED, HWID_BANNED, ADDRESS_BANNED, VPN_BLOCKED, SIGNATURE_REQUIRED
   */
  verify(appId: string, handle: string, asker: Asker): Promise<Verification>;
  /**
   * Ends a session: every verification that begins after this returns fails, on every node.
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, SIGNATURE_REQUIRED
   */
  logout(appId: string, handle: string, asker?: Pick<Asker, 'unsigned'>): Promise<void>;
  /** Ends every session of a user inside the caller's transaction, which keeps logins out. */
  endAllOf(trx: Knex.Transaction, userId: string, reason: 'banned'): Promise<void>;
  /** Deletes some sessions that expired a week ago. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly lookup: SessionLookup;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly tokens: Tokens;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly random: Random;
}

export function createSessions(deps: Dependencies): Sessions {
  const { knex, lookup, bans, vpn, tokens, keys, clock, random } = deps;

  async function findLive(
    appId: string,
    handle: string,
    unsigned: boolean | undefined,
    now: Date,
  ): Promise<SessionFacts> {
    const facts = await lookup.find(handleKind(handle), tokenDigest(handle));
    if (!facts || facts.appId !== appId || facts.endedAt) throw new ApiError('SESSION_INVALID');
    if (facts.expiresAt <= now) throw new ApiError('SESSION_EXPIRED');
    if (unsigned && facts.requireSignatures) throw new ApiError('SIGNATURE_REQUIRED');
    return facts;
  }

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

    async begin(trx, application, userId, hwidDigest, prepared) {
      const live = await store.findLiveSessions(trx, userId, prepared.createdAt);
      const replaced = live.filter((session) => session.hwid_digest.equals(hwidDigest));
      const others = live.filter((session) => !replaced.includes(session));
      const surplus = others.slice(0, Math.max(0, others.length + 1 - application.maxSessions));
      const digestOf = (session: { readonly session_digest: Buffer }) => session.session_digest;
      await store.endSessions(trx, replaced.map(digestOf), 'replaced', prepared.createdAt);
      await store.endSessions(trx, surplus.map(digestOf), 'limit', prepared.createdAt);
      await store.insertSession(trx, {
        session_digest: tokenDigest(prepared.sessionId),
        token_digest: tokenDigest(prepared.token),
        app_id: application.appId,
        user_id: userId,
        hwid_digest: hwidDigest,
        created_at: prepared.createdAt,
        expires_at: prepared.expiresAt,
      });
    },

    async verify(appId, handle, { hwid, client, unsigned }) {
      const now = clock.now();
      const facts = await findLive(appId, handle, unsigned, now);
      if (facts.applicationStatus === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
      if (facts.applicationStatus === 'paused' && facts.pauseSessions)
        throw new ApiError('APPLICATION_PAUSED');
      if (hwid !== undefined && facts.hwidLock) {
        const same = timingSafeEqual(keys.hwidDigest(appId, hwid), facts.hwidDigest);
        if (!same) throw new ApiError('HWID_MISMATCH', { detail: 'The session belongs to another machine.' });
      }
      vpn.assertNone(facts, client);
      if (facts.hasClientBans) {
        const sent = hwid === undefined ? [] : [keys.hwidDigest(appId, hwid)];
        const hwidDigests = [facts.hwidDigest, ...sent];
        await bans.assertNone(knex, appId, { hwidDigests, address: client.address });
      }
      const subscription = standing(facts.stretches, facts, now);
      if (facts.requireSubscription && subscription.status !== 'active')
        throw new ApiError('SUBSCRIPTION_EXPIRED');
      return { userId: facts.userId, username: facts.username, expiresAt: facts.expiresAt, subscription };
    },

    async logout(appId, handle, { unsigned } = {}) {
      const now = clock.now();
      const facts = await findLive(appId, handle, unsigned, now);
      const ended = await store.endSessions(knex, [facts.sessionDigest], 'logout', now);
      if (ended === 0) throw new ApiError('SESSION_INVALID');
    },

    endAllOf: (trx, userId, reason) => store.endSessionsOfUser(trx, userId, reason, clock.now()),

    clearExpired: () =>
      store.clearExpiredSessions(knex, new Date(clock.now().getTime() - REMEMBERED_MS), CLEARED_AT_ONCE),
  };
}

/** 128 bits in base64url have 22 characters; tokens are longer and have dots. */
function handleKind(handle: string): HandleKind {
  return handle.length === 22 ? 'session_id' : 'token';
}
