import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Keys } from '../../foundation/installation-keys/installation-keys.ts';
import type { Licenses, Redemption } from '../licenses/licenses.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import * as store from './user-store.ts';
import { userNotFound } from './user-not-found.ts';
import { newUsername, usernameKey } from './username.ts';

export type { ExportFormat, UserDirectory, UserFilter, UserQuery, UserRecord } from './user-directory.ts';
export { refusalsOf } from './user-not-found.ts';
export type { HwidReset, HwidResets } from './hwid-resets.ts';
export type { ImportFormat, UserImports } from './user-imports.ts';
export type { UserManagement } from './user-management.ts';
export type { FoundUser, UserSearch } from './user-search.ts';

/** Each deletion includes the user's sessions. */
const CLEARED_AT_ONCE = 100;

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly hwid: string;
  readonly email?: string | undefined;
  readonly licenseKey?: string | undefined;
}

/** A user as other domains refer to it. */
export interface UserReference {
  readonly userId: string;
  /** Null until a machine is bound. */
  readonly hwidDigest: Buffer | null;
}

export interface Users {
  /**
   * Creates an account that is bound to a machine and redeems its first key, all in one transaction.
   * @returns the user's id
   * @throws ApiError VALIDATION_FAILED, VPN_BLOCKED, HWID_BANNED, ADDRESS_BANNED, USERNAME_TAKEN, QUOTA_EXCEEDED,
   *   TOO_MANY_REQUESTS; with the statuses of a registration LICENSE_NOT_FOUND, LICENSE_ALREADY_USED, LICENSE_UNUSABLE
   */
  register(application: Application, user: NewUser, client: Client): Promise<string>;
  /**
   * Redeems a license key for a user.
   * @throws ApiError USER_NOT_FOUND, VPN_BLOCKED, USER_BANNED, HWID_BANNED, ADDRESS_BANNED and those of Licenses.redeem
   */
  activate(
    application: Application,
    username: string,
    licenseKey: string,
    client: Client,
  ): Promise<Redemption>;
  /**
   * Unbinds a user from the machine and ends the user's sessions: the next login binds its machine.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND
   */
  resetHwid(actor: Actor, appId: string, userId: string): Promise<void>;
  /** @throws ApiError USER_NOT_FOUND */
  find(db: Knex, appId: string, username: string): Promise<UserReference>;
  /** Ends logins with a license inside the caller's transaction, if it was the one that created the user. */
  forgetLicense(trx: Knex.Transaction, userId: string, licenseId: string): Promise<void>;
  /** The same by id. @throws ApiError USER_NOT_FOUND, also for users of another application */
  reference(db: Knex, appId: string, userId: string): Promise<UserReference>;
  /**
   * Locks a user of the application until the caller's transaction ends, so that changes of the user run one by one.
   * @throws ApiError USER_NOT_FOUND
   */
  lockForUpdate(trx: Knex.Transaction, appId: string, userId: string): Promise<void>;
  /**
   * Locks the rows of users until the caller's transaction ends, in the order of their ids, so that two that lock
   * several never wait for each other.
   * @param nowait fails at once if another transaction has locked one
   */
  lockAllForUpdate(
    trx: Knex.Transaction,
    userIds: readonly string[],
    options?: { readonly nowait?: boolean },
  ): Promise<void>;
  /**
   * Locks the users of an application among some ids until the caller's transaction ends.
   * @returns their ids
   */
  lockOfApplicationForUpdate(
    trx: Knex.Transaction,
    appId: string,
    userIds: readonly string[],
  ): Promise<readonly string[]>;
  /** Users of any application, in any order; unknown ids are omitted. */
  named(
    db: Knex,
    userIds: readonly string[],
  ): Promise<{ readonly userId: string; readonly appId: string; readonly username: string }[]>;
  /** Deletes a batch of users of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly licenses: Licenses;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly bans: Bans;
  readonly vpn: Vpn;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createUsers(deps: Dependencies): Users {
  const { knex, applications, licenses, events, sessions, passwords, bans, vpn, keys, clock, newId } = deps;

  return {
    async register(application, { username, password, hwid, email, licenseKey }, client) {
      const { appId } = application;
      const hwidDigest = keys.hwidDigest(appId, hwid);
      const subject = { hwidDigests: [hwidDigest], address: client.address };
      vpn.assertNone(application, client);
      await bans.assertNone(knex, appId, subject);
      const names = newUsername(username);
      if (await store.isNameTaken(knex, appId, names)) throw new ApiError('USERNAME_TAKEN');
      if (licenseKey !== undefined) {
        await licenses.assertRedeemable(knex, application, licenseKey).catch(rethrowForRegistration);
      }
      const passwordHash = await passwords.hash(password);
      const userId = newId('usr');
      await knex.transaction(async (trx) => {
        // Hashing takes time, so the application is read again.
        const current = await applications.lockForShare(trx, appId);
        vpn.assertNone(current, client);
        await bans.assertNone(trx, appId, subject);
        const inserted = await store.insertUser(trx, {
          user_id: userId,
          app_id: appId,
          ...names,
          email: email ?? null,
          password_hash: passwordHash,
          hwid_digest: hwidDigest,
          created_at: clock.now(),
        });
        if (!inserted) throw new ApiError('USERNAME_TAKEN');
        await events.record(trx, { type: 'user.created', appId, userId, data: { username } });
        if (licenseKey !== undefined) {
          await licenses.redeem(trx, current, userId, licenseKey).catch(rethrowForRegistration);
        }
        // Last, because every registration of the application waits for this row.
        await applications.takeUserSeat(trx, appId);
      });
      return userId;
    },

    async activate(application, username, licenseKey, client) {
      const { appId } = application;
      vpn.assertNone(application, client);
      await bans.assertNone(knex, appId, { address: client.address });
      const user = await store.findUser(knex, appId, usernameKey(username));
      if (!user) throw new ApiError('USER_NOT_FOUND');
      await licenses.assertRedeemable(knex, application, licenseKey);
      return knex.transaction(async (trx) => {
        const current = await applications.lockForShare(trx, appId);
        vpn.assertNone(current, client);
        const locked = await store.lockUserForUpdate(trx, user.user_id);
        if (!locked) throw new ApiError('USER_NOT_FOUND');
        await bans.assertNone(trx, appId, {
          userId: locked.user_id,
          hwidDigests: locked.hwid_digest ? [locked.hwid_digest] : [],
          address: client.address,
        });
        return licenses.redeem(trx, current, user.user_id, licenseKey);
      });
    },

    async resetHwid(actor, appId, userId) {
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        const user = await store.lockUserForUpdate(trx, userId);
        if (user?.app_id !== appId) throw userNotFound();
        await store.unbindHwid(trx, userId);
        await events.record(trx, { type: 'user.hwid_reset', appId, userId, actor });
        await sessions.endAllOf(trx, appId, userId, 'hwid_reset');
      });
    },

    async find(db, appId, username) {
      const user = await store.findUser(db, appId, usernameKey(username));
      if (!user) throw new ApiError('USER_NOT_FOUND');
      return { userId: user.user_id, hwidDigest: user.hwid_digest };
    },

    forgetLicense: store.forgetLicense,

    async reference(db, appId, userId) {
      const user = await store.findUserById(db, userId);
      if (user?.app_id !== appId) throw userNotFound();
      return { userId, hwidDigest: user.hwid_digest };
    },

    async lockForUpdate(trx, appId, userId) {
      const user = await store.lockUserForUpdate(trx, userId);
      if (user?.app_id !== appId) throw userNotFound();
    },

    lockAllForUpdate: store.lockUsersForUpdate,

    async lockOfApplicationForUpdate(trx, appId, ids) {
      const users = await store.lockUsersOfApplicationForUpdate(trx, appId, ids);
      return users.map(({ user_id }) => user_id);
    },

    async named(db, userIds) {
      const rows = await store.findUsersById(db, userIds);
      return rows.map(({ user_id: userId, app_id: appId, username }) => ({ userId, appId, username }));
    },

    clearOf: (appId) => store.deleteUsersOfApplication(knex, appId, CLEARED_AT_ONCE),
  };
}

/** At registration the key is part of the request: an unknown key is a 400, a used one a conflict. */
function rethrowForRegistration(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const options = { detail: error.detail, cause: error };
  if (error.code === 'LICENSE_NOT_FOUND')
    throw new ApiError('LICENSE_NOT_FOUND', { ...options, status: 400 });
  if (error.code === 'LICENSE_ALREADY_USED')
    throw new ApiError('LICENSE_ALREADY_USED', { ...options, status: 409 });
  throw error;
}
