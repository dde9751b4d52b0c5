import type { Knex } from 'knex';
import {
  subscriptionClock,
  toSubscriptionClock,
  type Pause,
} from '../../accounts/applications/application-state.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import { readOrderedPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import { passwordState } from '../../foundation/passwords/passwords.ts';
import { toCount, type Count } from '../../platform/database/bounded-count.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { subscriptionsOf } from '../subscriptions/subscriptions.ts';
import { createExpirations, type Expirations } from './expirations.ts';
import * as store from './user-directory-store.ts';
import { createUserSessions, type UserSessions } from './user-sessions.ts';
import { userNotFound } from './user-not-found.ts';
import { exportedText, type ExportFormat } from './user-export.ts';
import type { CurrentTimes, UserCondition } from './user-condition-sql.ts';
import { userPlaces, type UserSort } from './user-order-state.ts';
import type { UserRecord } from './user-record.ts';
import { usernamePrefix } from './username.ts';

export type { ExportFormat } from './user-export.ts';
export type { UserRecord } from './user-record.ts';

/** Users per page of an export. */
const EXPORTED_AT_ONCE = 500;

const NEWEST: UserSort = '-created_at';

/** The filter of a list; omitted members match all. */
export interface UserFilter extends Omit<UserCondition, 'beginning' | 'endsSince' | 'endsUntil'> {
  /** The beginning of the username or of the email address, ignoring case. */
  readonly q?: string | undefined;
  /** The subscription ends at or after this wall time. */
  readonly expiresSince?: Date | undefined;
  /** The subscription ends before this wall time. */
  readonly expiresUntil?: Date | undefined;
}

/** A list of users: the filter, and the order, by default newest first. */
export interface UserQuery extends UserFilter {
  readonly sort?: UserSort | undefined;
}

/** Reads the ids of the next matching users, newest first. */
export type UserSelector = (page: {
  readonly before: string | undefined;
  readonly limit: number;
}) => Promise<string[]>;

/** Reads an application's users. */
export interface UserDirectory extends UserSessions, Expirations {
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, query: UserQuery, page: PageRequest): Promise<Page<UserRecord>>;
  /** Finds the ids of matching users. @throws ApiError APPLICATION_NOT_FOUND */
  selector(developerId: string, appId: string, filter: UserFilter): Promise<UserSelector>;
  /**
   * Which of the users that the caller's transaction has locked still match a filter. Another transaction may have
   * changed them while the caller waited for the locks.
   */
  stillMatching(
    trx: Knex.Transaction,
    application: Pause,
    userIds: readonly string[],
    filter: UserFilter | undefined,
  ): Promise<readonly string[]>;
  /** @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  get(developerId: string, appId: string, userId: string): Promise<UserRecord>;
  /** How many users all applications have; an estimate above 10,000. */
  count(): Promise<Count>;
  /**
   * All matching users as chunks of text: each page is read when the previous one is consumed.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  export(
    developerId: string,
    appId: string,
    query: UserQuery,
    format: ExportFormat,
  ): Promise<AsyncIterable<string>>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly sessions: Sessions;
  readonly bans: Bans;
  readonly clock: Clock;
}

export function createUserDirectory(deps: Dependencies): UserDirectory {
  const { knex, applications, sessions, bans, clock } = deps;

  /** The condition of a filter, and the times that it is compared with. */
  function conditionOf(
    application: Pause,
    { q, expiresSince, expiresUntil, ...filter }: UserFilter,
  ): [UserCondition, CurrentTimes] {
    const now = clock.now();
    const onClock = (moment?: Date) => moment && toSubscriptionClock(moment, application, now);
    const condition = {
      ...filter,
      beginning: q === undefined ? undefined : { username: usernamePrefix(q), email: q.toLowerCase() },
      endsSince: onClock(expiresSince),
      endsUntil: onClock(expiresUntil),
    };
    return [condition, { now, clock: subscriptionClock(application, now) }];
  }

  function readUsers(
    application: Pause & { readonly appId: string },
    { sort = NEWEST, ...filter }: UserQuery,
    range: { readonly after: string | undefined; readonly limit: number },
  ): Promise<store.ListedRow[]> {
    const [condition, times] = conditionOf(application, filter);
    return store.listUsers(knex, application.appId, condition, times, { ...range, sort });
  }

  /** Related data of users, in one statement for each kind. */
  async function toRecords(application: Pause, rows: readonly store.ListedRow[]): Promise<UserRecord[]> {
    const userIds = rows.map(({ user_id }) => user_id);
    const subscriptions = await subscriptionsOf(knex, userIds, application, clock.now());
    const live = await sessions.countLive(userIds);
    const banned = await bans.inForceOf(userIds);
    return rows.map((row) => ({
      userId: row.user_id,
      username: row.username,
      email: row.email,
      role: row.role,
      passwordState: passwordState(row.password_hash),
      hwidBound: row.hwid_bound,
      hwidResetAt: row.hwid_reset_at,
      subscription: subscriptions.get(row.user_id)!,
      liveSessions: live.get(row.user_id) ?? 0,
      ban: banned.get(row.user_id) ?? null,
      createdAt: row.created_at,
    }));
  }

  async function required(appId: string, userId: string): Promise<store.ListedRow> {
    const row = await store.findListedUser(knex, userId);
    if (row?.app_id !== appId) throw userNotFound();
    return row;
  }

  return {
    ...createUserSessions(deps),
    ...createExpirations(deps),

    async list(developerId, appId, query, request) {
      const application = await applications.ofDeveloper(developerId, appId);
      const places = userPlaces[query.sort ?? NEWEST];
      const page = await readOrderedPage<store.ListedRow>(request, places, (range) =>
        readUsers(application, query, range),
      );
      return { data: await toRecords(application, page.data), nextCursor: page.nextCursor };
    },

    async selector(developerId, appId, filter) {
      const application = await applications.ofDeveloper(developerId, appId);
      return async ({ before, limit }) => {
        const rows = await readUsers(application, filter, { after: before, limit });
        return rows.map(({ user_id }) => user_id);
      };
    },

    async stillMatching(trx, application, userIds, filter) {
      if (!filter || userIds.length === 0) return userIds;
      return store.findMatching(trx, ...conditionOf(application, filter), userIds);
    },

    async get(developerId, appId, userId) {
      const application = await applications.ofDeveloper(developerId, appId);
      const [record] = await toRecords(application, [await required(appId, userId)]);
      return record!;
    },

    count: async () => toCount(await store.countRows(knex)),

    async export(developerId, appId, query, format) {
      const application = await applications.ofDeveloper(developerId, appId);
      async function* pages(): AsyncGenerator<UserRecord[]> {
        const places = userPlaces[query.sort ?? NEWEST];
        let after: string | undefined;
        for (;;) {
          const rows = await readUsers(application, query, { after, limit: EXPORTED_AT_ONCE });
          if (rows.length > 0) yield await toRecords(application, rows);
          if (rows.length < EXPORTED_AT_ONCE) return;
          after = places.of(rows.at(-1)!);
        }
      }
      return exportedText(pages(), format);
    },
  };
}
