import type { Knex } from 'knex';
import type { Applications, OwnApplication } from '../../accounts/applications/applications.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import type { Bans } from '../bans/bans.ts';
import type { Bulk } from '../../foundation/bulk/bulk.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Change, Events } from '../../foundation/events/events.ts';
import type { Licenses } from '../licenses/licenses.ts';
import type { Passwords } from '../../foundation/passwords/passwords.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { extendSubscriptions, type Extended } from '../subscriptions/subscriptions.ts';
import { createUserDeletion, type UserDeletion } from './user-deletion.ts';
import * as bulkStore from './user-bulk-store.ts';
import * as store from './user-store.ts';
import type { UserDirectory } from './user-directory.ts';
import { userNotFound } from './user-not-found.ts';
import { newUsername } from './username.ts';

/** Users whose subscriptions are extended at once: about a tenth of a second. */
const SLICE = 1000;
/** Users cannot log in until all are extended, so the total is limited to about ten seconds. */
const MAX_EXTENDED = 100_000;

/** A user to create. */
export interface UserDraft {
  readonly username: string;
  /** Without one, the user cannot log in with a password. */
  readonly password?: string | undefined;
  readonly email?: string | undefined;
  readonly role?: string | undefined;
}

/** The users whose subscriptions are extended. */
export interface ExtensionRequest {
  /** Undefined for the tier in force of each user. */
  readonly tier: string | undefined;
  readonly durationDays: number;
  /** Undefined for all users with a running subscription. */
  readonly userIds: readonly string[] | undefined;
}

export interface ExtensionCounts {
  readonly extended: number;
  /** Users whose subscription the days could not extend. */
  readonly unchanged: number;
  /** Ids that are not users of the application. */
  readonly unknown: number;
}

/** Management of users by the developer. */
export interface UserManagement {
  /**
   * Creates a user without a bound machine.
   * @returns the user id
   * @throws ApiError APPLICATION_NOT_FOUND, VALIDATION_FAILED, USERNAME_TAKEN, QUOTA_EXCEEDED, TOO_MANY_REQUESTS
   */
  create(actor: Actor, appId: string, draft: UserDraft): Promise<string>;
  /** @param changes null removes the address @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  update(
    actor: Actor,
    appId: string,
    userId: string,
    changes: { readonly email?: string | null | undefined; readonly role?: string | undefined },
  ): Promise<void>;
  /**
   * Deletes a user with all related data, and frees the seat. Keys that the user redeemed stay redeemed, and a ban of
   * the user's machine stays.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND
   */
  delete(actor: Actor, appId: string, userId: string): Promise<void>;
  /**
   * Sets a password and ends the user's sessions. Logins that have already verified the old password fail.
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND, TOO_MANY_REQUESTS
   */
  setPassword(actor: Actor, appId: string, userId: string, password: string): Promise<void>;
  /** Ends a user's sessions. @returns how many @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  endSessions(actor: Actor, appId: string, userId: string): Promise<number>;
  /** Ends one session of any user. @throws ApiError APPLICATION_NOT_FOUND, SESSION_NOT_FOUND */
  endSession(actor: Actor, appId: string, sessionRef: string): Promise<void>;
  /**
   * Adds time to one user's subscription, like a license key.
   * @param grant null days mean a lifetime
   * @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND, SUBSCRIPTION_NOT_EXTENDABLE; VALIDATION_FAILED for a tier
   *   that the application does not have
   */
  extend(
    actor: Actor,
    appId: string,
    userId: string,
    grant: { readonly tier: string; readonly durationDays: number | null },
  ): Promise<Extended>;
  /**
   * Adds days to many users' subscriptions, all or none.
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS; VALIDATION_FAILED for a tier that the application does
   *   not have, or if more than 100,000 users match
   */
  extendMany(actor: Actor, appId: string, wish: ExtensionRequest): Promise<ExtensionCounts>;
  deleteMany: UserDeletion['deleteMany'];
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly licenses: Licenses;
  readonly events: Events;
  readonly audit: Audit;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly bans: Bans;
  readonly bulk: Bulk;
  readonly userDirectory: Pick<UserDirectory, 'selector' | 'stillMatching'>;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createUserManagement(deps: Dependencies): UserManagement {
  const { knex, applications, events, audit, sessions, passwords, bulk, clock, newId } = deps;
  const deletion = createUserDeletion(deps);

  /** Runs work on a user who is locked against other changes and logins until it is done. */
  function withUser<Result>(
    actor: Actor,
    appId: string,
    userId: string,
    work: (trx: Knex.Transaction, user: store.UserRow, application: OwnApplication) => Promise<Result>,
  ): Promise<Result> {
    return knex.transaction(async (trx) => {
      const application = await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
      const user = await store.lockUserForUpdate(trx, userId);
      if (user?.app_id !== appId) throw userNotFound();
      return work(trx, user, application);
    });
  }

  /** The matching users in chunks, ordered by id, each locked until the transaction ends. */
  async function* chunksOf(
    trx: Knex.Transaction,
    application: OwnApplication,
    userIds: readonly string[] | undefined,
    now: Date,
  ): AsyncGenerator<string[]> {
    if (userIds) {
      const sorted = [...new Set(userIds)].sort();
      for (let start = 0; start < sorted.length; start += SLICE) {
        const part = sorted.slice(start, start + SLICE);
        const users = await store.lockUsersOfApplicationForUpdate(trx, application.appId, part);
        yield users.map(({ user_id }) => user_id);
      }
      return;
    }
    let after = '';
    for (;;) {
      const chunk = await bulkStore.lockSubscribersForUpdate(trx, application, { after, limit: SLICE }, now);
      if (chunk.length > 0) yield chunk;
      if (chunk.length < SLICE) return;
      after = chunk.at(-1)!;
    }
  }

  return {
    async create(actor, appId, { username, password, email, role }) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      const names = newUsername(username);
      if (await store.isNameTaken(knex, appId, names)) throw new ApiError('USERNAME_TAKEN');
      const passwordHash = password === undefined ? null : await passwords.hashFor(developerId, password);
      const userId = newId('usr');
      await knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, developerId, appId);
        const inserted = await store.insertUser(trx, {
          user_id: userId,
          app_id: appId,
          ...names,
          email: email ?? null,
          ...(role !== undefined && { role }),
          password_hash: passwordHash,
          hwid_digest: null,
          created_at: clock.now(),
        });
        if (!inserted) throw new ApiError('USERNAME_TAKEN');
        await events.record(trx, { type: 'user.created', appId, userId, data: { username }, actor });
        // Last, because every registration of the application waits for this row.
        await applications.takeUserSeats(trx, appId, 1);
      });
      return userId;
    },

    async update(actor, appId, userId, { email, role }) {
      await withUser(actor, appId, userId, async (trx) => {
        const changes = { ...(email !== undefined && { email }), ...(role !== undefined && { role }) };
        if (Object.keys(changes).length === 0) return;
        await store.updateUser(trx, userId, changes);
        const data = { changed: Object.keys(changes) };
        // Without the email address: audit entries outlive the user.
        const remark = { role };
        await events.record(trx, { type: 'user.updated', appId, userId, data, remark, actor });
      });
    },

    async delete(actor, appId, userId) {
      await withUser(actor, appId, userId, (trx, user) => deletion.deleteLocked(trx, actor, appId, [user]));
    },

    async setPassword(actor, appId, userId, password) {
      // Checked before hashing, so that only the user's own developer can cause that work.
      await withUser(actor, appId, userId, async () => {});
      const passwordHash = await passwords.hashFor(actor.developerId, password);
      await withUser(actor, appId, userId, async (trx) => {
        await store.setPasswordHash(trx, userId, passwordHash);
        await events.record(trx, { type: 'user.password_changed', appId, userId, actor });
        await sessions.endAllOf(trx, appId, userId, 'password_changed');
      });
    },

    endSessions: (actor, appId, userId) =>
      withUser(actor, appId, userId, async (trx) => {
        const ended = await sessions.endAllOf(trx, appId, userId, 'ended');
        await audit.record(trx, actor, {
          action: 'user.sessions_ended',
          appId,
          target: userId,
          data: { ended },
        });
        return ended;
      }),

    endSession: (actor, appId, sessionRef) =>
      knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
        await sessions.endOne(trx, actor, appId, sessionRef);
      }),

    extend: (actor, appId, userId, { tier, durationDays }) =>
      withUser(actor, appId, userId, async (trx, _user, application) => {
        assertTier(tier, application);
        const more = { durationDays, revive: true };
        const [extended] = await extendSubscriptions(trx, [{ userId, tier }], more, application, clock.now());
        if (!extended) throw new ApiError('SUBSCRIPTION_NOT_EXTENDABLE');
        await events.record(trx, { ...toChange(appId, durationDays, extended), actor });
        return extended;
      }),

    async extendMany(actor, appId, { tier, durationDays, userIds }) {
      await applications.ofDeveloper(actor.developerId, appId);
      const work = async (trx: Knex.Transaction) => {
        // The application is not locked meanwhile, because bans, pauses and logins would wait for seconds. The
        // extension is computed as of one time, so later pauses do not affect it.
        const application = await applications.ofDeveloper(actor.developerId, appId);
        if (tier !== undefined) assertTier(tier, application);
        const now = clock.now();
        let found = 0;
        let count = 0;
        for await (const slice of chunksOf(trx, application, userIds, now)) {
          found += slice.length;
          if (found > MAX_EXTENDED) {
            throw invalidMember(
              '/all',
              `means more than ${MAX_EXTENDED} users: name them in user_ids, a part at a time`,
            );
          }
          const wanted = slice.map((userId) => ({ userId, tier }));
          const more = { durationDays, revive: true };
          const extended = await extendSubscriptions(trx, wanted, more, application, now);
          await events.record(trx, ...extended.map((each) => toChange(appId, durationDays, each)));
          count += extended.length;
        }
        const current = await applications.lockRowOfDeveloperForShare(trx, actor.developerId, appId);
        if (tier !== undefined) assertTier(tier, current);
        const counts = {
          extended: count,
          unchanged: found - count,
          unknown: userIds ? new Set(userIds).size - found : 0,
        };
        const data = { days: durationDays, tier: tier ?? null, ...counts };
        await audit.record(trx, actor, {
          action: 'user.subscription_extended',
          appId,
          target: appId,
          data,
        });
        return counts;
      };
      return bulk.admit(actor.developerId, () => bulk.transaction(actor.developerId, work));
    },

    deleteMany: deletion.deleteMany,
  };
}

function assertTier(tier: string, { tiers }: OwnApplication): void {
  if (tiers.includes(tier)) return;
  throw invalidMember('/tier', `must be one of the application's tiers: ${tiers.join(', ')}`);
}

function toChange(appId: string, days: number | null, { userId, tier, expiresAt }: Extended): Change {
  return {
    type: 'user.subscription_extended',
    appId,
    userId,
    data: { tier, days, expires_at: expiresAt.toISOString() },
  };
}
