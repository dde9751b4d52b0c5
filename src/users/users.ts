import { timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import type { Application, Applications } from '../applications/applications.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Keys } from '../keys/keys.ts';
import type { Licenses, Redemption } from '../licenses/licenses.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { PreparedSession, Sessions, TokenForm } from '../sessions/sessions.ts';
import { subscriptionStanding } from '../subscriptions/subscriptions.ts';
import * as store from './user-store.ts';
import { usernameKey } from './username.ts';

/** Each brings its sessions with it. */
const CLEARED_AT_ONCE = 100;

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly hwid: string;
  readonly email?: string | undefined;
  readonly licenseKey?: string | undefined;
}

export interface Login {
  readonly session: PreparedSession;
  readonly user: { readonly userId: string; readonly username: string; readonly role: string };
}

export interface Users {
  /**
   * Creates an account bound to a machine and redeems its first key, all in one transaction.
   * @returns the user's id
   * @throws ApiError VALIDATION_FAILED, USERNAME_TAKEN, QUOTA_EXCEEDED, TOO_MANY_REQUESTS; with the statuses of a
   *   registration LICENSE_NOT_FOUND, LICENSE_ALREADY_USED, LICENSE_UNUSABLE
   */
  register(application: Application, user: NewUser): Promise<string>;
  /**
   * Checks a password and begins a session on one machine.
   * @throws ApiError APPLICATION_PAUSED, INVALID_CREDENTIALS, HWID_MISMATCH, SUBSCRIPTION_EXPIRED, TOO_MANY_REQUESTS
   */
  login(
    application: Application,
    credentials: { readonly username: string; readonly password: string; readonly hwid: string },
    form: TokenForm,
  ): Promise<Login>;
  /**
   * Redeems a licence key for a user.
   * @throws ApiError USER_NOT_FOUND and those of Licenses.redeem
   */
  activate(application: Application, username: string, licenseKey: string): Promise<Redemption>;
  /** Deletes some users of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly licenses: Licenses;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createUsers(deps: Dependencies): Users {
  const { knex, applications, licenses, sessions, passwords, keys, clock, newId } = deps;

  /** Binds the first machine, and refuses another one where the application locks hardware. */
  async function checkMachine(
    trx: Knex.Transaction,
    application: Application,
    user: store.UserRow,
    hwidDigest: Buffer,
  ): Promise<void> {
    if (!user.hwid_digest) return store.bindHwid(trx, user.user_id, hwidDigest);
    if (application.hwidLock && !timingSafeEqual(user.hwid_digest, hwidDigest))
      throw new ApiError('HWID_MISMATCH');
  }

  return {
    async register(application, { username, password, hwid, email, licenseKey }) {
      const key = usernameKey(username);
      if (await store.findUser(knex, application.appId, key)) throw new ApiError('USERNAME_TAKEN');
      if (licenseKey !== undefined) {
        await licenses.assertRedeemable(knex, application, licenseKey).catch(rethrowForRegistration);
      }
      const passwordHash = await passwords.hash(password);
      const userId = newId('usr');
      await knex.transaction(async (trx) => {
        // Hashing took its time: what holds now is read again.
        const current = await applications.hold(trx, application.appId);
        const inserted = await store.insertUser(trx, {
          user_id: userId,
          app_id: application.appId,
          username,
          username_key: key,
          email: email ?? null,
          password_hash: passwordHash,
          hwid_digest: keys.hwidDigest(application.appId, hwid),
          created_at: clock.now(),
        });
        if (!inserted) throw new ApiError('USERNAME_TAKEN');
        if (licenseKey !== undefined) {
          await licenses.redeem(trx, current, userId, licenseKey).catch(rethrowForRegistration);
        }
        // Last, because every registration of the application waits for this row.
        await applications.takeUserSeat(trx, application.appId);
      });
      return userId;
    },

    async login(application, { username, password, hwid }, form) {
      assertOpen(application);
      const user = await store.findUser(knex, application.appId, usernameKey(username));
      const { valid, rehashed } = await passwords.verify(user?.password_hash, password);
      if (!user || !valid) throw new ApiError('INVALID_CREDENTIALS');
      if (rehashed) await store.replacePasswordHash(knex, user, rehashed);

      const hwidDigest = keys.hwidDigest(application.appId, hwid);
      const session = await sessions.prepare(application.appId, user.user_id, form);
      await knex.transaction(async (trx) => {
        const current = await applications.hold(trx, application.appId);
        assertOpen(current);
        const locked = await store.lockUser(trx, user.user_id);
        if (!locked) throw new ApiError('INVALID_CREDENTIALS');
        await checkMachine(trx, current, locked, hwidDigest);
        if (current.requireSubscription) {
          const standing = await subscriptionStanding(trx, user.user_id, current, clock.now());
          if (standing.status !== 'active') throw new ApiError('SUBSCRIPTION_EXPIRED');
        }
        await sessions.begin(trx, current, user.user_id, hwidDigest, session);
      });
      return { session, user: { userId: user.user_id, username: user.username, role: user.role } };
    },

    async activate(application, username, licenseKey) {
      const user = await store.findUser(knex, application.appId, usernameKey(username));
      if (!user) throw new ApiError('USER_NOT_FOUND');
      await licenses.assertRedeemable(knex, application, licenseKey);
      return knex.transaction(async (trx) => {
        const current = await applications.hold(trx, application.appId);
        if (!(await store.lockUser(trx, user.user_id))) throw new ApiError('USER_NOT_FOUND');
        return licenses.redeem(trx, current, user.user_id, licenseKey);
      });
    },

    clearOf: (appId) => store.deleteUsersOfApplication(knex, appId, CLEARED_AT_ONCE),
  };
}

function assertOpen(application: Application): void {
  if (application.status === 'paused') throw new ApiError('APPLICATION_PAUSED');
}

/** At a registration the key is a part of the request: an unknown one is a 400, a used one a conflict. */
function rethrowForRegistration(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const options = { detail: error.detail, cause: error };
  if (error.code === 'LICENSE_NOT_FOUND')
    throw new ApiError('LICENSE_NOT_FOUND', { ...options, status: 400 });
  if (error.code === 'LICENSE_ALREADY_USED')
    throw new ApiError('LICENSE_ALREADY_USED', { ...options, status: 409 });
  throw error;
}
