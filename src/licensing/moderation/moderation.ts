import type { Knex } from 'knex';
import { LIFETIME } from '../../accounts/applications/application-state.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Ban, Banned, Bans, Terms } from '../bans/bans.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { License, Licenses } from '../licenses/licenses.ts';
import type { Page, PageRequest } from '../../foundation/paging/page.ts';
import { canonicalNetwork } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { toBanEvent } from './bulk-moderation.ts';
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

/** Bans of users, machines and networks by developers. */
export interface Moderation {
  /**
   * Bans a user, a machine or a network. Requests that begin after it returns are refused on every node.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND; VALIDATION_FAILED if the members do not match the kind
   */
  ban(actor: Actor, appId: string, ban: NewBan): Promise<Ban>;
  /**
   * Bans a license key. Requests with it that begin after it returns are refused on every node.
   * @param options.banUser whether the user who redeemed it is also banned, if there is one
   * @returns the license, and the ban of its user; null if the user was not banned
   * @throws ApiError APPLICATION_NOT_FOUND, LICENSE_NOT_FOUND, LICENSE_STATE_CONFLICT
   */
  banLicense(
    actor: Actor,
    appId: string,
    licenseId: string,
    options: { readonly reason: string | null; readonly banUser: boolean },
  ): Promise<{ readonly license: License; readonly ban: Ban | null }>;
  /**
   * Bans one user by id. A ban already in force gets this reason and end.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND; VALIDATION_FAILED for an end that is not in the future
   */
  banUser(actor: Actor, appId: string, userId: string, terms: Terms): Promise<Ban>;
  /**
   * Lifts the bans of one user that are in force.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND, BAN_NOT_FOUND
   */
  unbanUser(actor: Actor, appId: string, userId: string): Promise<void>;
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
  readonly licenses: Pick<Licenses, 'ban'>;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly keys: Keys;
  readonly clock: Clock;
}

export function createModeration(deps: Dependencies): Moderation {
  const { knex, applications, bans, events, licenses, users, sessions, keys, clock } = deps;

  async function toBanned(trx: Knex.Transaction, appId: string, ban: NewBan): Promise<Banned> {
    assertOnly(ban, MEMBERS[ban.kind]);
    const { kind, username, hwid, network } = ban;
    if (kind === 'network') {
      const canonical = canonicalNetwork(required(network, '/network'));
      if (canonical === undefined) {
        throw invalidMember(
          '/network',
          'must be an IP address or a network in CIDR form, without bits after its prefix',
        );
      }
      return { kind, network: canonical };
    }
    if (kind === 'user') {
      const { userId } = await users.find(trx, appId, required(username, '/username'));
      await users.lockForUpdate(trx, appId, userId);
      return { kind, userId };
    }
    if (hwid !== undefined && username !== undefined)
      throw invalidMember('/hwid', 'cannot be combined with username');
    if (hwid !== undefined) return { kind, hwidDigest: keys.hwidDigest(appId, hwid), userId: null };
    const { userId, hwidDigest } = await users.find(trx, appId, required(username, '/hwid'));
    if (!hwidDigest) throw invalidMember('/username', 'is a user without a bound machine');
    return { kind, hwidDigest, userId };
  }

  function assertToCome({ expiresAt }: Terms): void {
    if (!expiresAt || (expiresAt > clock.now() && expiresAt <= LIFETIME)) return;
    throw invalidMember('/expires_at', 'must be in the future, no later than the year 9999');
  }

  /** Records a user's ban, and ends the user's sessions. */
  async function enforce(trx: Knex.Transaction, actor: Actor, appId: string, userId: string, ban: Ban) {
    await events.record(trx, toBanEvent(appId, userId, ban, actor));
    await sessions.endAllOf(trx, appId, userId, 'banned');
  }

  return {
    async ban(actor, appId, ban) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      assertToCome(ban);
      return knex.transaction(async (trx) => {
        // Every operation of a user locks the user; a machine or a network can belong to any user.
        const lock =
          ban.kind === 'user' ? applications.lockOfDeveloperForShare : applications.lockOfDeveloperForUpdate;
        await lock(trx, developerId, appId);
        const banned = await toBanned(trx, appId, ban);
        const made = await bans.add(trx, appId, banned, ban);
        if (banned.kind === 'user') {
          await enforce(trx, actor, appId, banned.userId, made);
          return made;
        }
        const { banId, kind, network, reason, expiresAt } = made;
        const terms = { ban_id: banId, expires_at: expiresAt?.toISOString() ?? null };
        await events.record(trx, {
          type: 'ban.created',
          appId,
          data: { ...terms, kind, user_id: made.userId, network, reason },
          actor,
          target: banId,
        });
        return made;
      });
    },

    banLicense: (actor, appId, licenseId, { reason, banUser }) =>
      knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
        const license = await licenses.ban(trx, actor, appId, licenseId, reason);
        const userId = banUser ? license.redeemedBy : null;
        if (userId === null) return { license, ban: null };
        const ban = await bans.setOfUser(trx, appId, userId, { reason, expiresAt: null });
        await enforce(trx, actor, appId, userId, ban);
        return { license, ban };
      }),

    async banUser(actor, appId, userId, terms) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      await users.reference(knex, appId, userId);
      assertToCome(terms);
      return knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, developerId, appId);
        await users.lockForUpdate(trx, appId, userId);
        const ban = await bans.setOfUser(trx, appId, userId, terms);
        await enforce(trx, actor, appId, userId, ban);
        return ban;
      });
    },

    async unbanUser(actor, appId, userId) {
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        await users.lockForUpdate(trx, appId, userId);
        const lifted = await bans.removeOfUsers(trx, [userId]);
        if (lifted.length === 0) throw new ApiError('BAN_NOT_FOUND', { detail: 'The user is not banned.' });
        const type = 'user.unbanned';
        await events.record(
          trx,
          ...lifted.map(({ banId: ban_id }) => ({ type, appId, userId, data: { ban_id }, actor }) as const),
        );
      });
    },

    async list(developerId, appId, page) {
      await applications.ofDeveloper(developerId, appId);
      return bans.list(appId, page);
    },

    async lift(actor, appId, banId) {
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
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

/** Refuses members that the kind does not use: the ban would not be what the developer intended. */
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
