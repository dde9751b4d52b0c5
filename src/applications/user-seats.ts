import type { Knex } from 'knex';
import { ApiError } from '../errors/api-error.ts';
import type { Application } from './application.ts';
import { hasRoom, setGrace } from './application-store.ts';
import * as store from './user-seat-store.ts';

/** How many users an application has, of those that its developer's plan has room for. */
export interface UserSeats {
  /** How many users are registered, in the caller's view of the database. */
  usersOf(db: Knex, appId: string): Promise<number>;
  /** Counts one more user, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeUserSeat(trx: Knex.Transaction, appId: string): Promise<void>;
  /** Counts so many users more, or none, inside the caller's transaction. @throws ApiError QUOTA_EXCEEDED */
  takeUserSeats(trx: Knex.Transaction, appId: string, amount: number): Promise<void>;
  /**
   * Refuses logins of an application for which the plan has no room since a change of it, once the time is over in which its users
   * go on as before.
   * @throws ApiError QUOTA_EXCEEDED
   */
  assertWithinPlan(db: Knex, application: Application, now: Date): Promise<void>;
  /**
   * Notes, inside the transaction that changes a developer's plan, for which of his applications the new one has no room: their
   * users go on as before until a moment, or an earlier one that was set by the change before.
   */
  setGrace(trx: Knex.Transaction, developerId: string, planId: string, graceEndsAt: Date): Promise<void>;
  /** Counts one user less, inside the caller's transaction. */
  returnUserSeat(trx: Knex.Transaction, appId: string): Promise<void>;
}

export const userSeats: UserSeats = {
  usersOf: (db, appId) => store.countUsers(db, appId),

  async takeUserSeat(trx, appId) {
    if (await store.takeUserSeat(trx, appId)) return;
    throw new ApiError('QUOTA_EXCEEDED', { detail: "The developer's plan has no room for another user." });
  },

  async takeUserSeats(trx, appId, amount) {
    if (await store.takeUserSeats(trx, appId, amount)) return;
    throw new ApiError('QUOTA_EXCEEDED', {
      detail: `The developer's plan has no room for ${amount} more users.`,
    });
  },

  async assertWithinPlan(db, { appId, graceEndsAt }, now) {
    if (graceEndsAt === null || graceEndsAt > now || (await hasRoom(db, appId))) return;
    throw new ApiError('QUOTA_EXCEEDED', {
      detail: "The developer's plan has no room any more for this application and its users.",
    });
  },

  setGrace,

  returnUserSeat: store.returnUserSeat,
};
