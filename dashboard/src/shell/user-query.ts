import { queryOptions } from '@tanstack/react-query';
import { call } from '../api/client.ts';

export interface UserPath {
  readonly app_id: string;
  readonly user_id: string;
}

/** What is known about the users of an application. */
export const usersKey = (appId: string) => ['application', appId, 'users'];

/** What is known about one of them. */
export const userKey = ({ app_id, user_id }: UserPath) => [...usersKey(app_id), user_id];

export const userQuery = (path: UserPath) =>
  queryOptions({
    queryKey: userKey(path),
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/users/{user_id}', { path: { ...path }, signal }),
  });
