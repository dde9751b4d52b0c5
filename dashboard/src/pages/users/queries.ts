import { useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { usersKey } from '../../shell/user-query.ts';

export type User = Schemas['User'];

export interface UserFilter {
  readonly q?: string | undefined;
  readonly banned?: boolean | undefined;
  readonly tier?: string | undefined;
  readonly hwid_bound?: boolean | undefined;
  readonly subscription?: Schemas['UserSubscriptionStatus'] | undefined;
  readonly createdSince?: string | undefined;
  readonly endsSince?: string | undefined;
  readonly endsUntil?: string | undefined;
  readonly sort?: Schemas['UserSort'] | undefined;
}

/** The cache of an application's users, and of all that belongs to one of them. */
/** The filter as the list, the exports and the bulk operations take it. */
export function toFilter(filter: UserFilter): Schemas['UserFilter'] {
  const { q, banned, tier, hwid_bound, subscription, createdSince, endsSince, endsUntil } = filter;
  return {
    ...(q && { q }),
    ...(banned !== undefined && { banned }),
    ...(tier && { tier }),
    ...(hwid_bound !== undefined && { hwid_bound }),
    ...(subscription && { subscription }),
    ...(createdSince && { created_since: createdSince }),
    ...(endsSince && { expires_since: endsSince }),
    ...(endsUntil && { expires_until: endsUntil }),
  };
}

/** The users that match. */
export function useUsers(appId: string, filter: UserFilter) {
  const { sort } = filter;
  return useCursorList([...usersKey(appId), 'list', filter], (cursor, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/users', {
      path: { app_id: appId },
      query: { limit: PAGE_SIZE, ...toFilter(filter), ...(sort && { sort }), ...(cursor && { cursor }) },
      signal,
    }),
  );
}

/** Reads users again after a change. */
export function useUsersChanged(appId: string): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: usersKey(appId) });
}

export const createUser = (appId: string, body: Schemas['CreateUserRequest']) =>
  call('POST /api/v2/dev/apps/{app_id}/users', { path: { app_id: appId }, body, once: true });

/** The changes of one user. */
export function userActions(appId: string, userId: string) {
  const path = { app_id: appId, user_id: userId };
  return {
    update: (body: Schemas['UpdateUserRequest']) =>
      call('PATCH /api/v2/dev/apps/{app_id}/users/{user_id}', { path, body }),
    ban: (body: Schemas['BanUserRequest'] = {}) =>
      call('POST /api/v2/dev/apps/{app_id}/users/{user_id}/ban', { path, body, once: true }),
    unban: () => call('POST /api/v2/dev/apps/{app_id}/users/{user_id}/unban', { path }),
    resetHwid: () => call('POST /api/v2/dev/apps/{app_id}/users/{user_id}/reset-hwid', { path }),
    resetPassword: (password: string) =>
      call('POST /api/v2/dev/apps/{app_id}/users/{user_id}/reset-password', { path, body: { password } }),
    extend: (body: Schemas['ExtendUserRequest']) =>
      call('POST /api/v2/dev/apps/{app_id}/users/{user_id}/extend', { path, body, once: true }),
    endSessions: () => call('DELETE /api/v2/dev/apps/{app_id}/users/{user_id}/sessions', { path }),
    delete: () => call('DELETE /api/v2/dev/apps/{app_id}/users/{user_id}', { path }),
  };
}
