import type { Knex } from 'knex';
import { LIFETIME } from '../../accounts/applications/application-state.ts';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Ban, Bans, Terms } from '../bans/bans.ts';
import {
  changeSelected,
  type Bulk,
  type BulkOutcome,
  type Refusals,
  type Selection,
  type Step,
} from '../../foundation/bulk/bulk.ts';
import { invalidMember } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LicenseFilter, Licenses } from '../licenses/licenses.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { refusalsOf, type UserDirectory, type UserFilter, type Users } from '../users/users.ts';

/** Bans of many licenses and users at once, in transactions of some hundred each. */
export interface BulkModeration {
  /** @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, VALIDATION_FAILED */
  banLicenses(
    actor: Actor,
    appId: string,
    selection: Selection<LicenseFilter>,
    options: { readonly reason: string | null; readonly banUsers: boolean },
  ): Promise<BulkOutcome & { readonly bannedUsers: number }>;
  /**
   * Bans already in force get this reason and end. No session of these users is valid when it returns.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, VALIDATION_FAILED
   */
  banUsers(actor: Actor, appId: string, selection: Selection<UserFilter>, terms: Terms): Promise<BulkOutcome>;
  /** @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, VALIDATION_FAILED */
  unbanUsers(actor: Actor, appId: string, selection: Selection<UserFilter>): Promise<BulkOutcome>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly bans: Bans;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly licenses: Pick<Licenses, 'banSlice' | 'changeSelected'>;
  readonly users: Pick<Users, 'lockOfApplicationForUpdate'>;
  readonly userDirectory: Pick<UserDirectory, 'selector' | 'stillMatching'>;
  readonly sessions: Sessions;
  readonly clock: Clock;
}

export function createBulkModeration(deps: Dependencies): BulkModeration {
  const { applications, bans, bulk, events, licenses, users, userDirectory, sessions, clock } = deps;

  /** Bans users that the caller's transaction has locked, and ends their sessions. */
  async function banLocked(
    trx: Knex.Transaction,
    actor: Actor,
    appId: string,
    userIds: readonly string[],
    terms: Terms,
  ): Promise<void> {
    const made = await bans.setOfUsers(trx, appId, userIds, terms);
    await events.record(trx, ...[...made].map(([userId, ban]) => toBanEvent(appId, userId, ban, actor)));
    await sessions.endAllOfUsers(trx, appId, userIds, 'banned');
  }

  /** Changes the locked users of each slice. @param change returns which of them stay as they are */
  async function changeUsers(
    actor: Actor,
    appId: string,
    selection: Selection<UserFilter>,
    change: (trx: Knex.Transaction, userIds: readonly string[]) => Promise<Refusals>,
  ): Promise<BulkOutcome> {
    const { developerId } = actor;
    const list = await userDirectory.selector(developerId, appId, selection.filter ?? {});
    const changeSlice = (step: Step, ids: readonly string[]) =>
      step(async (trx) => {
        const application = await applications.lockOfDeveloperForShare(trx, developerId, appId);
        const locked = await users.lockOfApplicationForUpdate(trx, appId, ids);
        const userIds = await userDirectory.stillMatching(trx, application, locked, selection.filter);
        const refusals = refusalsOf(ids, userIds);
        if (userIds.length === 0) return refusals;
        return new Map([...refusals, ...(await change(trx, userIds))]);
      });
    return bulk.inSteps(developerId, (step) =>
      changeSelected(selection, {
        prefix: 'usr',
        notFound: 'USER_NOT_FOUND',
        list: (_filter, page) => list(page),
        change: (ids) => changeSlice(step, ids),
      }),
    );
  }

  return {
    async banLicenses(actor, appId, selection, { reason, banUsers }) {
      const banned = new Set<string>();
      const outcome = await licenses.changeSelected(actor, appId, selection, async (trx, slice) => {
        // As for a single license: no redemption or login with a banned key is half done afterwards.
        if (slice.dryRun) await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        else await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
        const { refusals, holders } = await licenses.banSlice(trx, actor, slice, reason);
        const userIds = banUsers ? [...new Set(holders)].filter((userId) => !banned.has(userId)).sort() : [];
        if (userIds.length > 0 && !slice.dryRun) {
          await banLocked(trx, actor, appId, userIds, { reason, expiresAt: null });
        }
        for (const userId of userIds) banned.add(userId);
        return refusals;
      });
      return { ...outcome, bannedUsers: banned.size };
    },

    async banUsers(actor, appId, selection, terms) {
      const { expiresAt } = terms;
      if (expiresAt && !(expiresAt > clock.now() && expiresAt <= LIFETIME)) {
        throw invalidMember('/expires_at', 'must be in the future, no later than the year 9999');
      }
      return changeUsers(actor, appId, selection, async (trx, userIds) => {
        if (!selection.dryRun) await banLocked(trx, actor, appId, userIds, terms);
        return new Map();
      });
    },

    unbanUsers: (actor, appId, selection) =>
      changeUsers(actor, appId, selection, async (trx, userIds) => {
        const lifted = selection.dryRun
          ? [...(await bans.inForceOf(userIds)).values()]
          : await bans.removeOfUsers(trx, userIds);
        const banned = new Set(lifted.map(({ userId }) => userId));
        if (!selection.dryRun) {
          const type = 'user.unbanned';
          await events.record(
            trx,
            ...lifted.map(
              ({ banId: ban_id, userId }) =>
                ({ type, appId, userId: userId!, data: { ban_id }, actor }) as const,
            ),
          );
        }
        return new Map(userIds.filter((id) => !banned.has(id)).map((id) => [id, 'BAN_NOT_FOUND']));
      }),
  };
}

/** The event of a user's ban. The reason is for the developer only: the event to the user does not contain it. */
export function toBanEvent(appId: string, userId: string, ban: Ban, actor: Actor) {
  const data = { ban_id: ban.banId, expires_at: ban.expiresAt?.toISOString() ?? null };
  return { type: 'user.banned', appId, userId, data, remark: { reason: ban.reason }, actor } as const;
}
