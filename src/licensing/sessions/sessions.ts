import type { Knex } from 'knex';
import type { Bans } from '../bans/bans.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import type { Tokens } from '../../foundation/tokens/tokens.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import { createSessionIds, type SessionIds } from './session-ids.ts';
import { createSessionLifecycle, type SessionLifecycle } from './session-lifecycle.ts';
import type { SessionLookup } from './session-lookup.ts';
import * as store from './session-store.ts';
import { createSessionVerifier, type SessionVerifier } from './session-verifier.ts';

export type { PreparedSession, TokenForm } from './session-lifecycle.ts';
export type { SessionIdentity, Verification } from './session-verifier.ts';

/** How long an expired session is kept, so that it can be distinguished from an unknown one. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;

/** Length of the shortened digest of a machine. */
const MACHINE_LABEL_BYTES = 4;

/** A live session without its credentials. */
export interface LiveSession {
  readonly beganAt: Date;
  readonly expiresAt: Date;
  /** Distinguishes the machines of one application. */
  readonly machine: string;
}

/** Sessions of users: how they begin, end and are verified. */
export interface Sessions extends SessionLifecycle, SessionVerifier, Pick<SessionIds, 'idsOf' | 'reseal'> {
  /** How many sessions of an application are live at a time. */
  countLiveOfApplication(db: Knex, appId: string, now: Date): Promise<number>;
  /** A user's sessions that have neither ended nor expired, the oldest first. */
  liveOf(userId: string): Promise<LiveSession[]>;
  /** How many live sessions each of many users has; users without any are omitted. */
  countLive(userIds: readonly string[]): Promise<Map<string, number>>;
  /** Deletes a batch of sessions that expired a week ago. @returns how many */
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
  /** Whether sealed ids of sessions are kept. */
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
