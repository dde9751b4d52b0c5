import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { userKey, type UserPath } from '../../shell/user-query.ts';

export const userSessionsQuery = (path: UserPath) =>
  queryOptions({
    queryKey: [...userKey(path), 'sessions'],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/users/{user_id}/sessions', { path: { ...path }, signal }),
  });

export function useUserVariables(path: UserPath) {
  return useCursorList([...userKey(path), 'variables'], (cursor, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/users/{user_id}/variables', {
      path: { ...path },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );
}

/** When the machine was bound and reset, newest first. */
export const machineEventsQuery = (path: UserPath) =>
  queryOptions({
    queryKey: [...userKey(path), 'machine'],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/events', {
        path: { app_id: path.app_id },
        query: {
          user_id: path.user_id,
          type: 'user.hwid_bound,user.hwid_reset',
          order: 'desc',
          limit: 20,
        },
        signal,
      }),
  });

/** The events about a user, newest first. */
export function useUserEvents({ app_id, user_id }: UserPath) {
  return useCursorList([...userKey({ app_id, user_id }), 'events'], async (after, signal) => {
    const page = await call('GET /api/v2/dev/apps/{app_id}/events', {
      path: { app_id },
      query: { user_id, order: 'desc', limit: PAGE_SIZE, ...(after && { after }) },
      signal,
    });
    return { data: page.data, next_cursor: page.has_more ? page.last_event_id : null };
  });
}

export const setVariable = (path: UserPath, name: string, value: string) =>
  call('PUT /api/v2/dev/apps/{app_id}/users/{user_id}/variables/{name}', {
    path: { ...path, name },
    body: { value },
  });

export const deleteVariable = (path: UserPath, name: string) =>
  call('DELETE /api/v2/dev/apps/{app_id}/users/{user_id}/variables/{name}', { path: { ...path, name } });
