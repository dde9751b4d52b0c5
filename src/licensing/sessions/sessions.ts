import type { Knex } from 'knex';
import type { Bans } from '../bans/bans.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { LastUses } from '../../foundation/last-uses/last-uses.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Random } from '../../platform/random.ts';
import type { Tokens } from '../../foundation/tokens/tokens.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import { createSessionList, type SessionList } from './session-list.ts';
import { createSessionEnds, type SessionEnds } from './session-ends.ts';
import { createSessionIds, type SessionIds } from './session-ids.ts';
import { createSessionLifecycle, type SessionLifecycle } from './session-lifecycle.ts';
import type { SessionLookup } from './session-lookup.ts';
import { updateLastSeen } from './session-seen-store.ts';
import * as store from './session-store.ts';
import { createSessionVerifier, type SessionVerifier } from './session-verifier.ts';

export type { LiveSession } from './session-list.ts';
export type { PreparedSession, Renewable, TokenForm } from './session-lifecycle.ts';
export type { SessionIdentity, Verification } from './session-verifier.ts';

/** How long an expired session is kept, so that it can be distinguished from an unknown one. */
const REMEMBERED_MS = 7 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 1000;
/** How often a node writes when a session was last seen. */
const SEEN_EVERY_MS = 5 * 60_000;

/** Sessions of users: how they begin, end and are verified. */
export interface Sessions
  extends SessionLifecycle, SessionEnds, SessionVerifier, SessionList, Pick<SessionIds, 'idsOf' | 'reseal'> {
  /** Deletes a batch of sessions that expired a week ago. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly lookup: SessionLookup;
  readonly events: Events;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly lastUses: LastUses;
  readonly tokens: Tokens;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyring: Keyring;
  /** Whether sealed ids of sessions are kept. */
  readonly keepIds: boolean;
}

export function createSessions(deps: Dependencies): Sessions {
  const { knex, clock, lastUses } = deps;
  const ids = createSessionIds(deps);
  const ends = createSessionEnds(deps);
  const lastSeen = lastUses.of('sessions', {
    write: (seen) => updateLastSeen(knex, seen),
    everyMs: SEEN_EVERY_MS,
  });

  return {
    ...createSessionLifecycle({ ...deps, ids, ends }),
    endOne: ends.endOne,
    endAllOf: ends.endAllOf,
    endAllOfUsers: ends.endAllOfUsers,
    ...createSessionVerifier({ ...deps, lastSeen }),
    ...createSessionList(deps),
    idsOf: ids.idsOf,
    reseal: ids.reseal,

    clearExpired: () =>
      store.clearExpiredSessions(knex, new Date(clock.now().getTime() - REMEMBERED_MS), CLEARED_AT_ONCE),
  };
}
