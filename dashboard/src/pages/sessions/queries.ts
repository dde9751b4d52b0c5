import { useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { usersKey } from '../../shell/user-query.ts';

export type LiveSession = Schemas['LiveSession'];

const sessionsKey = (appId: string) => ['application', appId, 'sessions'];

/** The live sessions of an application, or of one of its users. */
export function useSessions(appId: string, userId: string | undefined) {
  return useCursorList<LiveSession>([...sessionsKey(appId), userId], async (cursor, signal) => {
    if (userId !== undefined)
      return { data: await readSessionsOfUser(appId, userId, signal), next_cursor: null };
    return call('GET /api/v2/dev/apps/{app_id}/sessions', {
      path: { app_id: appId },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    });
  });
}

async function readSessionsOfUser(
  appId: string,
  userId: string,
  signal: AbortSignal,
): Promise<readonly LiveSession[]> {
  const path = { app_id: appId, user_id: userId };
  const [user, sessions] = await Promise.all([
    call('GET /api/v2/dev/apps/{app_id}/users/{user_id}', { path, signal }),
    call('GET /api/v2/dev/apps/{app_id}/users/{user_id}/sessions', { path, signal }),
  ]);
  return sessions.data.map((session) => ({ ...session, user_id: userId, username: user.username }));
}

/** Reads sessions again after a change, and the users who have them. */
export function useSessionsChanged(appId: string): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: sessionsKey(appId) });
    await client.invalidateQueries({ queryKey: usersKey(appId) });
  };
}

export const endSession = (appId: string, sessionRef: string) =>
  call('DELETE /api/v2/dev/apps/{app_id}/sessions/{session_ref}', {
    path: { app_id: appId, session_ref: sessionRef },
  });
