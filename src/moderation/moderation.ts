import type { Knex } from 'knex';
import { LIFETIME } from '../applications/application-state.ts';
import type { Applications } from '../applications/applications.ts';
import type { Ban, Banned, Bans } from '../bans/bans.ts';
import { invalidMember } from '../errors/api-error.ts';
import type { Keys } from '../keys/keys.ts';
import type { Page, PageRequest } from '../paging/page.ts';
import { canonicalNetwork } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Users } from '../users/users.ts';

export interface NewBan {
  readonly kind: Ban['kind'];
  readonly username?: string | undefined;
  readonly hwid?: string | undefined;
  readonly network?: string | undefined;
  readonly reason: string | null;
  readonly expiresAt: Date | null;
}

/** What a developer does against users, machines and networks. */
export interface Moderation {
  /**
   * Bans a user, a machine or a network. Whatever begins after this returns is refused, on every node.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND; VALIDATION_FAILED when the members do not fit the kind
   */
  ban(developerId: string, appId: string, ban: NewBan): Promise<Ban>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest): Promise<Page<Ban>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, BAN_NOT_FOUND */
  lift(developerId: string, appId: string, banId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly bans: Bans;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly keys: Keys;
  readonly clock: Clock;
}

export function createModeration(deps: Dependencies): Moderation {
  const { knex, applications, bans, users, sessions, keys, clock } = deps;

  async function toBanned(trx: Knex.Transaction, appId: string, ban: NewBan): Promise<Banned> {
    assertOnly(ban, MEMBERS[ban.kind]);
    const { kind, username, hwid, network } = ban;
    if (kind === 'network') {
      const canonical = canonicalNetwork(required(network, '/network'));
      if (canonical === undefined) {
        throw invalidMember(
          '/network',
          'must be an IP address or a network in CIDR form, without bits behind its prefix',
        );
      }
      return { kind, network: canonical };
    }
    if (kind === 'user') {
      const { userId } = await users.find(trx, appId, required(username, '/username'));
      return { kind, userId };
    }
    if (hwid !== undefined && username !== undefined)
      throw invalidMember('/hwid', 'stands instead of username');
    if (hwid !== undefined) return { kind, hwidDigest: keys.hwidDigest(appId, hwid), userId: null };
    const { userId, hwidDigest } = await users.find(trx, appId, required(username, '/hwid'));
    if (!hwidDigest) throw invalidMember('/username', 'is of a user who is bound to no machine');
    return { kind, hwidDigest, userId };
  }

  return {
    async ban(developerId, appId, ban) {
      await applications.ofDeveloper(developerId, appId);
      if (ban.expiresAt && !(ban.expiresAt > clock.now() && ban.expiresAt <= LIFETIME)) {
        throw invalidMember('/expires_at', 'must be a moment to come, until year 9999');
      }
      return knex.transaction(async (trx) => {
        await applications.lockOfDeveloper(trx, developerId, appId);
        const banned = await toBanned(trx, appId, ban);
        const made = await bans.add(trx, appId, banned, ban);
        if (banned.kind === 'user') await sessions.endAllOf(trx, banned.userId, 'banned');
        return made;
      });
    },

    async list(developerId, appId, page) {
      await applications.ofDeveloper(developerId, appId);
      return bans.list(appId, page);
    },

    async lift(developerId, appId, banId) {
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloper(trx, developerId, appId);
        await bans.remove(trx, appId, banId);
      });
    },
  };
}

const MEMBERS = {
  user: ['username'],
  hardware: ['username', 'hwid'],
  network: ['network'],
} as const satisfies Record<Ban['kind'], readonly (keyof NewBan)[]>;

/** A member that its kind has no use for is a mistake: the ban would not be what its author thinks. */
function assertOnly(ban: NewBan, allowed: readonly (keyof NewBan)[]): void {
  for (const member of ['username', 'hwid', 'network'] as const) {
    if (ban[member] !== undefined && !allowed.includes(member)) {
      throw invalidMember(`/${member}`, `has no place in a ban of kind ${ban.kind}`);
    }
  }
}

function required(value: string | undefined, pointer: string): string {
  if (value === undefined) throw invalidMember(pointer, 'is required');
  return value;
}
