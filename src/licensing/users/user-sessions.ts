import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Page, PageRequest } from '../../foundation/paging/page.ts';
import type { LiveSession, Sessions } from '../sessions/sessions.ts';
import { userNotFound } from './user-not-found.ts';
import { findUserById, findUsersById } from './user-store.ts';

/** A live session with the name of its user. */
export interface LiveSessionOfUser extends LiveSession {
  readonly username: string;
}

/** Reads the live sessions of an application and of its users. */
export interface UserSessions {
  /** With the names of their users, newest first. @throws ApiError APPLICATION_NOT_FOUND */
  sessions(developerId: string, appId: string, page: PageRequest): Promise<Page<LiveSessionOfUser>>;
  /** A user's live sessions, the oldest first. @throws ApiError APPLICATION_NOT_FOUND, USER_NOT_FOUND */
  sessionsOf(developerId: string, appId: string, userId: string): Promise<LiveSession[]>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper'>;
  readonly sessions: Pick<Sessions, 'listLive' | 'liveOf'>;
}

export function createUserSessions({ knex, applications, sessions }: Dependencies): UserSessions {
  return {
    async sessions(developerId, appId, request) {
      await applications.ofDeveloper(developerId, appId);
      const page = await sessions.listLive(appId, request);
      const userIds = page.data.map(({ userId }) => userId);
      const users = await findUsersById(knex, userIds);
      const names = new Map(users.map(({ user_id, username }) => [user_id, username]));
      // A user may have been deleted in the meantime, with all sessions.
      const data = page.data.flatMap((session) => {
        const username = names.get(session.userId);
        return username === undefined ? [] : [{ ...session, username }];
      });
      return { data, nextCursor: page.nextCursor };
    },

    async sessionsOf(developerId, appId, userId) {
      await applications.ofDeveloper(developerId, appId);
      const user = await findUserById(knex, userId);
      if (user?.app_id !== appId) throw userNotFound();
      return sessions.liveOf(userId);
    },
  };
}
