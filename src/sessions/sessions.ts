import type { Knex } from 'knex';
import type { Bans } from '../bans/bans.ts';
import type { Events } from '../events/events.ts';
import type { Keys } from '../keys/keys.ts';
import type { Clock } from '../platform/clock.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Random } from '../platform/random.ts';
import type { Tokens } from '../tokens/tokens.ts';
import type { Vpn } from '../vpn/vpn.ts';
import { createSessionIds, type SessionIds } from './session-ids.ts';
import { createSessionLifecycle, type SessionLifecycle } from './session-lifecycle.ts';
import type { SessionLookup } from './session-lookup.ts';
import * as store from './session-store.ts';
import { createSessionVerifier, type SessionVerifier } from './session-verifier.ts';

export type { PreparedSession, TokenForm } from './session-lifecycle.ts';
export type { SessionIdentity, Verification } from './session-verifier.ts';

/** How long an expired session is still told apart from one that never was. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** Of the digest of a machine. */
const MACHINE_LABEL_BYTES = 4;

/** A live session as others may see it: nothing of it can be used in its place. */
export interface LiveSession {
  readonly beganAt: Date;
  readonly expiresAt: Date;
  /** Tells the machines of one application apart. */
  readonly machine: string;
}

/** Sessions of users: how they begin and end, whether they may go on, and what is told of them. */
export interface Sessions extends SessionLifecycle, SessionVerifier, Pick<SessionIds, 'idsOf' | 'reseal'> {
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
  const { knex, clock } = deps;
  const ids = createSessionIds(deps);

  return {
    ...createSessionLifecycle({ ...deps, ids }),
    ...createSessionVerifier(deps),
    idsOf: ids.idsOf,
    reseal: ids.reseal,

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
