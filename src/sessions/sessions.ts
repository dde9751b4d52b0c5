import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Application } from '../applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Keys } from '../keys/keys.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Random } from '../platform/random.ts';
import { standing, type Standing } from '../subscriptions/subscriptions.ts';
import { tokenDigest, type Tokens } from '../tokens/tokens.ts';
import type { Vpn } from '../vpn/vpn.ts';
import type { HandleKind, SessionFacts, SessionLookup } from './session-lookup.ts';
import * as idStore from './session-id-store.ts';
import * as store from './session-store.ts';

/** A session lives exactly 24 hours. */
export const SESSION_MS = 24 * 60 * 60 * 1000;

/** How long an expired session is still told apart from one that never was. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** Of the digest of a machine. */
const MACHINE_LABEL_BYTES = 4;

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

/** Whom a session's token stands for. */
export interface SessionIdentity extends Verification {
  readonly appId: string;
  /** SHA-256 of the session id. */
  readonly sessionDigest: Buffer;
  readonly hwidDigest: Buffer;
}

/** What is told of a session that begins. */
export interface SessionOrigin {
  /** The tier in force. */
  readonly tier: string | null;
  /** The program's own, as its client says. */
  readonly version: string | null;
}

/** A live session as others may see it: nothing of it can be used in its place. */
export interface LiveSession {
  readonly beganAt: Date;
  readonly expiresAt: Date;
  /** Tells the machines of one application apart. */
  readonly machine: string;
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
    origin: SessionOrigin,
  ): Promise<void>;
  /**
   * Whether a session is valid now.
   * @param handle the signed token, the encrypted token or the session id
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, APPLICATION_INACTIVE, APPLICATION_PAUSED, HWID_MISMATCH,
   *   SUBSCRIPTION_EXPIRED, HWID_BANNED, ADDRESS_BANNED, VPN_BLOCKED, SIGNATURE_REQUIRED
   */
  verify(appId: string, handle: string, asker: Asker): Promise<Verification>;
  /**
   * Whom a bearer token stands for, valid now.
   * @param handle as in verify
   * @throws ApiError those of verify
   */
  identify(handle: string, client: Client): Promise<SessionIdentity>;
  /**
   * Whether a session that was identified before may still go on, asked anew.
   * @throws ApiError those of verify
   */
  recheck(sessionDigest: Buffer, client: Client): Promise<void>;
  /**
   * The ids of sessions, by their digests in hexadecimal: of those that began while events went to a broker outside, whose
   * topics name them.
   */
  idsOf(sessionDigests: readonly Buffer[]): Promise<ReadonlyMap<string, string>>;
  /** Seals some ids anew under the current master key. @returns how many */
  reseal(): Promise<number>;
  /**
   * Ends a session: every verification that begins after this returns fails, on every node.
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, SIGNATURE_REQUIRED
   */
  logout(appId: string, handle: string, asker?: Pick<Asker, 'unsigned'>): Promise<void>;
  /** Ends every session of a user inside the caller's transaction, which keeps logins out. @returns how many */
  endAllOf(trx: Knex.Transaction, appId: string, userId: string, reason: store.EndReason): Promise<number>;
  /** How many sessions of an application are live at a moment. */
  countLiveOfApplication(db: Knex, appId: string, now: Date): Promise<number>;
  /** A user's sessions that have neither ended nor expired, the oldest first. */
  liveOf(userId: string): Promise<LiveSession[]>;
  /** How many live sessions each of many users has; those who have none are left out. */
  countLive(userIds: readonly string[]): Promise<Map<string, number>>;
  /** Deletes some sessions that expired a week ago. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly lookup: SessionLookup;
  readonly events: Events;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly tokens: Tokens;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyring: Keyring;
  /** Whether the ids of sessions are kept, sealed. */
  readonly keepIds: boolean;
}

export function createSessions(deps: Dependencies): Sessions {
  const { knex, lookup, events, bans, vpn, tokens, keys, clock, random, keyring, keepIds } = deps;

  /** @param appId the application that it must be of; undefined when any will do */
  function findLive(
    appId: string | undefined,
    handle: string,
    unsigned: boolean | undefined,
    now: Date,
  ): Promise<SessionFacts> {
    return assertLive(lookup.find(handleKind(handle), tokenDigest(handle)), appId, unsigned, now);
  }

  async function assertLive(
    found: Promise<SessionFacts | undefined>,
    appId: string | undefined,
    unsigned: boolean | undefined,
    now: Date,
  ): Promise<SessionFacts> {
    const facts = await found;
    if (!facts || (appId !== undefined && facts.appId !== appId) || facts.endedAt) {
      throw new ApiError('SESSION_INVALID');
    }
    if (facts.expiresAt <= now) throw new ApiError('SESSION_EXPIRED');
    if (unsigned && facts.requireSignatures) throw new ApiError('SIGNATURE_REQUIRED');
    return facts;
  }

  /** Refuses a live session that may not go on now. */
  async function check(facts: SessionFacts, { hwid, client }: Asker, now: Date): Promise<Verification> {
    const { appId } = facts;
    if (facts.applicationStatus === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
    if (facts.applicationStatus === 'paused' && facts.pauseSessions) throw new ApiError('APPLICATION_PAUSED');
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
  }

  /** Ends sessions inside the caller's transaction, and tells. @returns how many had not ended yet */
  async function end(
    trx: Knex.Transaction,
    appId: string,
    userId: string,
    sessionDigests: readonly Buffer[],
    reason: store.EndReason,
  ): Promise<number> {
    const ended = await store.endSessions(trx, sessionDigests, reason, clock.now());
    await recordEnds(trx, appId, userId, ended, reason);
    return ended.length;
  }

  function recordEnds(
    trx: Knex.Transaction,
    appId: string,
    userId: string,
    ended: readonly store.EndedSession[],
    reason: store.EndReason,
  ): Promise<void> {
    return events.record(
      trx,
      ...ended.map((session) => ({
        type: 'session.ended' as const,
        appId,
        userId,
        sessionDigest: session.session_digest,
        data: { reason, began_at: session.created_at.toISOString() },
      })),
    );
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

    async begin(trx, application, userId, hwidDigest, prepared, { tier, version }) {
      const live = await store.findLiveSessions(trx, userId, prepared.createdAt);
      const replaced = live.filter((session) => session.hwid_digest.equals(hwidDigest));
      const others = live.filter((session) => !replaced.includes(session));
      const surplus = others.slice(0, Math.max(0, others.length + 1 - application.maxSessions));
      const digestOf = (session: { readonly session_digest: Buffer }) => session.session_digest;
      const { appId } = application;
      const sessionDigest = tokenDigest(prepared.sessionId);
      await end(trx, appId, userId, replaced.map(digestOf), 'replaced');
      await end(trx, appId, userId, surplus.map(digestOf), 'limit');
      await store.insertSession(trx, {
        session_digest: sessionDigest,
        token_digest: tokenDigest(prepared.token),
        app_id: appId,
        user_id: userId,
        hwid_digest: hwidDigest,
        created_at: prepared.createdAt,
        expires_at: prepared.expiresAt,
      });
      if (keepIds) {
        const sealed = keyring.seal(Buffer.from(prepared.sessionId), idContext(sessionDigest));
        await idStore.insertSessionId(trx, sessionDigest, sealed);
      }
      await events.record(trx, {
        type: 'session.created',
        appId,
        userId,
        sessionDigest,
        data: { tier, version, expires_at: prepared.expiresAt.toISOString() },
      });
    },

    async verify(appId, handle, asker) {
      const now = clock.now();
      return check(await findLive(appId, handle, asker.unsigned, now), asker, now);
    },

    async identify(handle, client) {
      const now = clock.now();
      const facts = await findLive(undefined, handle, false, now);
      const verification = await check(facts, { client }, now);
      const { appId, sessionDigest, hwidDigest } = facts;
      return { ...verification, appId, sessionDigest, hwidDigest };
    },

    async recheck(sessionDigest, client) {
      const now = clock.now();
      const found = lookup.find('session_id', sessionDigest);
      await check(await assertLive(found, undefined, false, now), { client }, now);
    },

    async idsOf(sessionDigests) {
      const rows = await idStore.findSessionIds(knex, sessionDigests);
      return new Map(
        rows.map(({ session_digest: digest, session_id_sealed: sealed }) => [
          digest.toString('hex'),
          keyring.open(sealed, idContext(digest)).toString(),
        ]),
      );
    },

    reseal: idStore.createSessionIdResealer(knex, keyring, idContext),

    async logout(appId, handle, { unsigned } = {}) {
      const { sessionDigest, userId } = await findLive(appId, handle, unsigned, clock.now());
      await knex.transaction(async (trx) => {
        const ended = await end(trx, appId, userId, [sessionDigest], 'logout');
        if (ended === 0) throw new ApiError('SESSION_INVALID');
      });
    },

    async endAllOf(trx, appId, userId, reason) {
      const ended = await store.endSessionsOfUser(trx, userId, reason, clock.now());
      await recordEnds(trx, appId, userId, ended, reason);
      return ended.length;
    },

    countLiveOfApplication: store.countLiveSessionsOfApplication,
    async liveOf(userId) {
      const live = await store.findLiveSessions(knex, userId, clock.now());
      return live.map((session) => ({
        beganAt: session.created_at,
        expiresAt: session.expires_at,
        machine: session.hwid_digest.toString('hex', 0, MACHINE_LABEL_BYTES),
      }));
    },

    countLive: (userIds) => store.countLiveSessions(knex, userIds, clock.now()),

    clearExpired: () =>
      store.clearExpiredSessions(knex, new Date(clock.now().getTime() - REMEMBERED_MS), CLEARED_AT_ONCE),
  };
}

function idContext(sessionDigest: Buffer): string {
  return `session-id:${sessionDigest.toString('hex')}`;
}

/** 128 bits in base64url have 22 characters; tokens are longer and have dots. */
function handleKind(handle: string): HandleKind {
  return handle.length === 22 ? 'session_id' : 'token';
}
