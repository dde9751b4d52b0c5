import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Developers } from '../developers/developers.ts';
import type { PlanLimits } from '../plans/plan-state.ts';
import type { Application } from './application.ts';
import { countUsersOfLargestApplication, findPlanUse, listUsers, setGrace } from './application-store.ts';
import * as store from './user-seat-store.ts';

/** Counts the users of applications, within what the developer's plan allows. */
export interface UserSeats {
  /** The number of registered users. @param db the caller's transaction or connection */
  usersOf(db: Knex, appId: string): Promise<number>;
  /** The number of registered users of each application of a developer, by application. */
  usersOfDeveloper(db: Knex, developerId: string): Promise<ReadonlyMap<string, number>>;
  /** The number of users of the developer's application that has the most. */
  usersOfLargestApplication(developerId: string): Promise<number>;
  /** Counts one more user, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeUserSeat(trx: Knex.Transaction, appId: string): Promise<void>;
  /** Counts several users, all or none, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeUserSeats(trx: Knex.Transaction, appId: string, amount: number): Promise<void>;
  /**
   * Refuses logins of an application that exceeds its developer's plan, once the grace period after the
   * change of plan has ended.
   * @throws ApiError QUOTA_EXCEEDED
   */
  assertWithinPlan(db: Knex, application: Application, now: Date): Promise<void>;
  /**
   * Starts a grace period for those applications of a developer that exceed a new plan, inside the
   * transaction that changes the plan. A grace period that is already running keeps its end.
   */
  setGrace(trx: Knex.Transaction, developerId: string, limits: PlanLimits, graceEndsAt: Date): Promise<void>;
  /** Counts users less, inside the caller's transaction. */
  returnUserSeats(trx: Knex.Transaction, appId: string, amount: number): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'planLimitsOf'>;
}

export function createUserSeats({ knex, developers }: Dependencies): UserSeats {
  /**
   * Whether the plan allows all users of an application, and as many applications as were created up to it.
   */
  async function isWithinPlan(db: Knex, appId: string): Promise<boolean> {
    const use = await findPlanUse(db, appId);
    const limits = use && (await developers.planLimitsOf(db, use.developer_id));
    return !limits || (use.users <= limits.maxUsersPerApp && use.place <= limits.maxApps);
  }

  return {
    usersOf: (db, appId) => store.countUsers(db, appId),

    async usersOfDeveloper(db, developerId) {
      const rows = await listUsers(db, developerId);
      return new Map(rows.map(({ app_id, users }) => [app_id, users]));
    },

    usersOfLargestApplication: (developerId) => countUsersOfLargestApplication(knex, developerId),

    async takeUserSeat(trx, appId) {
      if (await store.takeUserSeat(trx, appId)) return;
      throw new ApiError('QUOTA_EXCEEDED', { detail: "The developer's plan does not allow another user." });
    },

    async takeUserSeats(trx, appId, amount) {
      if (await store.takeUserSeats(trx, appId, amount)) return;
      throw new ApiError('QUOTA_EXCEEDED', {
        detail: `The developer's plan does not allow ${amount} more users.`,
      });
    },

    async assertWithinPlan(db, { appId, graceEndsAt }, now) {
      if (graceEndsAt === null || graceEndsAt > now || (await isWithinPlan(db, appId))) return;
      throw new ApiError('QUOTA_EXCEEDED', {
        detail: "The developer's plan no longer allows this application and all of its users.",
      });
    },

    setGrace,

    returnUserSeats: store.returnUserSeats,
  };
}
