import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Bans } from '../bans/bans.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import type { LastUse } from '../../foundation/last-uses/last-uses.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { standing, type Standing } from '../subscriptions/subscriptions.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import { assertLive, findLive, PROVEN } from './session-liveness.ts';
import type { SessionFacts, SessionLookup } from './session-lookup.ts';

export interface Verification {
  readonly userId: string;
  readonly username: string;
  readonly expiresAt: Date;
  readonly subscription: Standing;
}

/** The identity behind a session's token. */
export interface SessionIdentity extends Verification {
  readonly appId: string;
  /** SHA-256 of the session id. */
  readonly sessionDigest: Buffer;
  readonly hwidDigest: Buffer;
}

/** The client that verifies a session. */
export interface VerificationRequest {
  /** The machine, which must match the session if the application locks hardware. */
  readonly hwid?: string | undefined;
  readonly client: Client;
  /** Whether the request is signed with the application's secret. */
  readonly signed: boolean;
  readonly trust: ClientTrust | undefined;
}

/** The machine of a client. */
type Machine = Pick<VerificationRequest, 'hwid' | 'client'>;

/** Bearer tokens and MQTT carry no signature with the secret, so `require_signatures` does not apply to them. */
const UNSIGNABLE = true;

/** Verifies sessions. */
export interface SessionVerifier {
  /**
   * Whether a session is valid now.
   * @param handle the signed token, the encrypted token or the session id
   * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, APPLICATION_INACTIVE, APPLICATION_PAUSED, HWID_MISMATCH,
   *   SUBSCRIPTION_EXPIRED, HWID_BANNED, ADDRESS_BANNED, VPN_BLOCKED, SIGNATURE_REQUIRED, CLIENT_TRUST_REQUIRED,
   *   DEVICE_SIGNATURE_INVALID, DEVICE_MISMATCH
   */
  verify(appId: string, handle: string, asker: VerificationRequest): Promise<Verification>;
  /**
   * The identity behind a bearer token that is valid now.
   * @param handle as in verify
   * @param trust of the request
   * @throws ApiError those of verify
   */
  identify(handle: string, client: Client, trust?: ClientTrust): Promise<SessionIdentity>;
  /**
   * Verifies again a session that was identified before.
   * @throws ApiError those of verify
   */
  recheck(sessionDigest: Buffer, client: Client): Promise<Verification>;
  /**
   * The same for many sessions at once, in one statement, and one more for each application with bans of clients.
   * @returns in their order, for an invalid session the error that `recheck` would throw
   * @throws Error if the database is unavailable
   */
  recheckAll(listening: readonly Listening[]): Promise<(Verification | ApiError)[]>;
}

/** A session that was identified before, and the address of its client. */
export interface Listening {
  readonly sessionDigest: Buffer;
  readonly client: Client;
}

interface Dependencies {
  readonly knex: Knex;
  readonly lookup: SessionLookup;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly keys: Keys;
  readonly clock: Clock;
  /** Notes when a session was last seen. */
  readonly lastSeen: LastUse;
}

export function createSessionVerifier(deps: Dependencies): SessionVerifier {
  const { knex, lookup, bans, vpn, keys, clock, lastSeen } = deps;

  /** Refuses a live session that is not valid now, without checking bans. */
  function assertAllowed(facts: SessionFacts, { hwid, client }: Machine): void {
    if (facts.applicationStatus === 'disabled') throw new ApiError('APPLICATION_INACTIVE');
    if (facts.applicationStatus === 'paused' && facts.pauseSessions) throw new ApiError('APPLICATION_PAUSED');
    if (hwid !== undefined && facts.hwidLock) {
      const same = timingSafeEqual(keys.hwidDigest(facts.appId, hwid), facts.hwidDigest);
      if (!same) throw new ApiError('HWID_MISMATCH', { detail: 'The session belongs to another machine.' });
    }
    vpn.assertNone(facts, client);
  }

  /** @returns undefined if the required subscription is missing */
  function toVerification(facts: SessionFacts, now: Date): Verification | undefined {
    const subscription = standing(facts.periods, facts, now);
    if (facts.requireSubscription && subscription.status !== 'active') return undefined;
    return { userId: facts.userId, username: facts.username, expiresAt: facts.expiresAt, subscription };
  }

  /** Refuses a live session that is not valid now. */
  async function check(facts: SessionFacts, asker: Machine, now: Date): Promise<Verification> {
    const { hwid, client } = asker;
    assertAllowed(facts, asker);
    if (facts.hasClientBans) {
      const { appId } = facts;
      const sent = hwid === undefined ? [] : [keys.hwidDigest(appId, hwid)];
      const hwidDigests = [facts.hwidDigest, ...sent];
      await bans.assertNone(knex, appId, { hwidDigests, address: client.address });
    }
    const verification = toVerification(facts, now);
    if (!verification) throw new ApiError('SUBSCRIPTION_EXPIRED');
    return verification;
  }

  /** Errors shared by all sessions: creating one with its stack costs as much as the rest of a recheck. */
  function createRefusals() {
    const refusals = new Map<string, ApiError | undefined>();
    const subscriptionExpired = new ApiError('SUBSCRIPTION_EXPIRED');
    return {
      subscriptionExpired,
      /** Whether an application refuses all its sessions, or those at one address. */
      ofApplication(facts: SessionFacts, client: Client): ApiError | undefined {
        const key = `${facts.appId} ${facts.blockVpn ? client.address : ''}`;
        if (!refusals.has(key))
          refusals.set(
            key,
            refusalOf(() => assertAllowed(facts, { client })),
          );
        return refusals.get(key);
      },
    };
  }

  /** Checks bans of machines and networks. @returns the refusal of each banned client */
  async function findBanned(
    facts: readonly (SessionFacts | undefined)[],
    listening: readonly Listening[],
  ): Promise<Map<number, ApiError>> {
    const places = [...facts.keys()].filter((place) => facts[place]?.hasClientBans);
    const refusals = new Map<number, ApiError>();
    for (const [appId, some] of Map.groupBy(places, (place) => facts[place]!.appId)) {
      const clients = some.map((place) => ({
        hwidDigest: facts[place]!.hwidDigest,
        address: listening[place]!.client.address,
      }));
      const found = await bans.findRefusals(appId, clients);
      some.forEach((place, index) => found[index] && refusals.set(place, found[index]));
    }
    return refusals;
  }

  return {
    async verify(appId, handle, asker) {
      const now = clock.now();
      const facts = await findLive(lookup, appId, handle, asker, now);
      const verification = await check(facts, asker, now);
      lastSeen.note(facts.sessionKey);
      return verification;
    },

    async identify(handle, client, trust) {
      const now = clock.now();
      const facts = await findLive(lookup, trust?.appId, handle, { signed: UNSIGNABLE, trust }, now);
      const verification = await check(facts, { client }, now);
      lastSeen.note(facts.sessionKey);
      const { appId, sessionDigest, hwidDigest } = facts;
      return { ...verification, appId, sessionDigest, hwidDigest };
    },

    async recheck(sessionDigest, client) {
      const now = clock.now();
      const found = await lookup.find('session_id', sessionDigest);
      return check(assertLive(found, undefined, PROVEN, now), { client }, now);
    },

    async recheckAll(listening) {
      const now = clock.now();
      const facts = await lookup.findAll(listening.map(({ sessionDigest }) => sessionDigest));
      const banned = await findBanned(facts, listening);
      const refusals = createRefusals();
      return listening.map(({ client }, place) => {
        const found = facts[place];
        if (!found) return new ApiError('SESSION_INVALID');
        return (
          refusalOf(() => assertLive(found, undefined, PROVEN, now)) ??
          refusals.ofApplication(found, client) ??
          banned.get(place) ??
          toVerification(found, now) ??
          refusals.subscriptionExpired
        );
      });
    },
  };
}

/** @returns the error of a failed check; undefined if it succeeds */
function refusalOf(assert: () => unknown): ApiError | undefined {
  try {
    assert();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
