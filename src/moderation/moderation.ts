import type { Knex } from 'knex';
import { LIFETIME } from '../applications/application-state.ts';
import type { Actor } from '../audit/audit.ts';
import type { Applications } from '../applications/applications.ts';
import type { Ban, Banned, Bans } from '../bans/bans.ts';
import { invalidMember } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
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
  ban(actor: Actor, appId: string, ban: NewBan): Promise<Ban>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest): Promise<Page<Ban>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, BAN_NOT_FOUND */
  lift(actor: Actor, appId: string, banId: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly bans: Bans;
  readonly events: Events;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly keys: Keys;
  readonly clock: Clock;
}

export function createModeration(deps: Dependencies): Moderation {
  const { knex, applications, bans, events, users, sessions, keys, clock } = deps;

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
    async ban(actor, appId, ban) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      if (ban.expiresAt && !(ban.expiresAt > clock.now() && ban.expiresAt <= LIFETIME)) {
        throw invalidMember('/expires_at', 'must be a moment to come, until year 9999');
      }
      return knex.transaction(async (trx) => {
        await applications.lockOfDeveloper(trx, developerId, appId);
        const banned = await toBanned(trx, appId, ban);
        const made = await bans.add(trx, appId, banned, ban);
        const { banId, kind, network, reason, expiresAt } = made;
        const terms = { ban_id: banId, expires_at: expiresAt?.toISOString() ?? null };
        if (banned.kind === 'user') {
          const { userId } = banned;
          // The reason is the developer's own remark: what tells the user goes without it.
          await events.record(trx, { type: 'user.banned', appId, userId, data: terms, actor });
          await sessions.endAllOf(trx, appId, userId, 'banned');
        } else {
          await events.record(trx, {
            type: 'ban.created',
            appId,
            data: { ...terms, kind, user_id: made.userId, network, reason },
            actor,
            target: banId,
          });
        }
        return made;
      });
    },

    async list(developerId, appId, page) {
      await applications.ofDeveloper(developerId, appId);
      return bans.list(appId, page);
    },

    async lift(actor, appId, banId) {
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloper(trx, actor.developerId, appId);
        const { kind, userId } = await bans.remove(trx, appId, banId);
        const change = { appId, data: { ban_id: banId }, actor, target: banId };
        if (kind === 'user' && userId !== null) {
          await events.record(trx, { ...change, type: 'user.unbanned', userId });
        } else {
          await events.record(trx, { ...change, type: 'ban.lifted' });
        }
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
