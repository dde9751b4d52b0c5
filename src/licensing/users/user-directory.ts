import type { Knex } from 'knex';
import { subscriptionClock, type Pause } from '../../accounts/applications/application-state.ts';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Bans } from '../bans/bans.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import { passwordState } from '../../foundation/passwords/passwords.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveSession, Sessions } from '../sessions/sessions.ts';
import { subscriptionsOf } from '../subscriptions/subscriptions.ts';
import * as store from './user-directory-store.ts';
import { userNotFound } from './user-not-found.ts';
import { exportedText, type ExportFormat } from './user-export.ts';
import type { UserRecord } from './user-record.ts';
import { usernamePrefix } from './username.ts';

export type { ExportFormat } from './user-export.ts';
export type { UserRecord } from './user-record.ts';

/** Users per page of an export. */
const EXPORTED_AT_ONCE = 500;

/** The filter of a list; omitted members match all. */
export interface UserFilter extends Omit<store.UserCondition, 'beginning'> {
  /** The beginning of the username or of the email address, ignoring case. */
  readonly q?: string | undefined;
}

/** Reads an application's users. */
export interface UserDirectory {
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, filter: UserFilter, page: PageRequest): Promise<Page<UserRecord>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  get(developerId: string, appId: string, userId: string): Promise<UserRecord>;
  /** A user's live sessions, the oldest first. @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  sessionsOf(developerId: string, appId: string, userId: string): Promise<LiveSession[]>;
  /**
   * All matching users, newest first, as chunks of text: each page is read when the previous one is consumed.
   * @throws ApiError APPLICATION_NOT_FOUND
   */
  export(
    developerId: string,
    appId: string,
    filter: UserFilter,
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

  function readUsers(
    application: Pause & { readonly appId: string },
    { q, ...filter }: UserFilter,
    range: { readonly before: string | undefined; readonly limit: number },
  ): Promise<store.ListedRow[]> {
    const now = clock.now();
    const beginning = q === undefined ? undefined : { username: usernamePrefix(q), email: q.toLowerCase() };
    const moments = { now, clock: subscriptionClock(application, now) };
    return store.listUsers(knex, application.appId, { ...filter, beginning }, moments, range);
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
    async list(developerId, appId, filter, request) {
      const application = await applications.ofDeveloper(developerId, appId);
      const page = await readPage(
        request,
        'usr',
        (row: store.ListedRow) => row.user_id,
        (range) => readUsers(application, filter, range),
      );
      return { data: await toRecords(application, page.data), nextCursor: page.nextCursor };
    },

    async get(developerId, appId, userId) {
      const application = await applications.ofDeveloper(developerId, appId);
      const [record] = await toRecords(application, [await required(appId, userId)]);
      return record!;
    },

    async sessionsOf(developerId, appId, userId) {
      await applications.ofDeveloper(developerId, appId);
      await required(appId, userId);
      return sessions.liveOf(userId);
    },

    async export(developerId, appId, filter, format) {
      const application = await applications.ofDeveloper(developerId, appId);
      async function* pages(): AsyncGenerator<UserRecord[]> {
        let before: string | undefined;
        for (;;) {
          const rows = await readUsers(application, filter, { before, limit: EXPORTED_AT_ONCE });
          if (rows.length > 0) yield await toRecords(application, rows);
          if (rows.length < EXPORTED_AT_ONCE) return;
          before = rows.at(-1)!.user_id;
        }
      }
      return exportedText(pages(), format);
    },
  };
}
