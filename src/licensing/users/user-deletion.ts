import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import {
  changeSelected,
  type Bulk,
  type BulkOutcome,
  type Selection,
  type Step,
} from '../../foundation/bulk/bulk.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Licenses } from '../licenses/licenses.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { UserDirectory, UserFilter } from './user-directory.ts';
import { refusalsOf } from './user-not-found.ts';
import * as store from './user-store.ts';

/** Deletes users with all related data. */
export interface UserDeletion {
  /** Deletes users that the caller's transaction has locked, and frees their seats. */
  deleteLocked(
    trx: Knex.Transaction,
    actor: Actor,
    appId: string,
    users: readonly Pick<store.UserRow, 'user_id' | 'username'>[],
  ): Promise<void>;
  /**
   * Deletes many users, in transactions of some hundred each.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, VALIDATION_FAILED
   */
  deleteMany(actor: Actor, appId: string, selection: Selection<UserFilter>): Promise<BulkOutcome>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly licenses: Pick<Licenses, 'forgetHolders'>;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly bans: Bans;
  readonly bulk: Bulk;
  readonly userDirectory: Pick<UserDirectory, 'selector' | 'stillMatching'>;
}

export function createUserDeletion(deps: Dependencies): UserDeletion {
  const { applications, licenses, events, sessions, bans, bulk, userDirectory } = deps;

  const deleteLocked: UserDeletion['deleteLocked'] = async (trx, actor, appId, users) => {
    const userIds = users.map(({ user_id }) => user_id);
    await sessions.endAllOfUsers(trx, appId, userIds, 'deleted');
    await licenses.forgetHolders(trx, userIds);
    await bans.forgetUsers(trx, userIds);
    await store.deleteUsers(trx, userIds);
    const changes = users.map(({ user_id: userId, username }) => {
      return { type: 'user.deleted', appId, userId, data: { username }, actor } as const;
    });
    await events.record(trx, ...changes);
    await applications.returnUserSeats(trx, appId, users.length);
  };

  return {
    deleteLocked,

    async deleteMany(actor, appId, selection) {
      const { developerId } = actor;
      const list = await userDirectory.selector(developerId, appId, selection.filter ?? {});
      const change = (step: Step, ids: readonly string[]) =>
        step(async (trx) => {
          const application = await applications.lockOfDeveloperForShare(trx, developerId, appId);
          const locked = await store.lockUsersOfApplicationForUpdate(trx, appId, ids);
          const lockedIds = locked.map(({ user_id }) => user_id);
          const matching = await userDirectory.stillMatching(trx, application, lockedIds, selection.filter);
          const wanted = new Set(matching);
          const users = locked.filter(({ user_id }) => wanted.has(user_id));
          if (users.length > 0 && !selection.dryRun) await deleteLocked(trx, actor, appId, users);
          return refusalsOf(ids, matching);
        });
      return bulk.inSteps(developerId, (step) =>
        changeSelected(selection, {
          prefix: 'usr',
          notFound: 'USER_NOT_FOUND',
          list: (_, page) => list(page),
          change: (ids) => change(step, ids),
        }),
      );
    },
  };
}
