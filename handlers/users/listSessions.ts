import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toSession } from './session.ts';

export const listSessions: Handler<'listSessions'> = async ({ path, query, actor }, { userDirectory }) => {
  const { limit, cursor } = query;
  const page = await userDirectory.sessions(actor.developerId, path.app_id, { limit, cursor });
  return toPage(page, ({ userId, username, ...session }) => ({
    user_id: userId,
    username,
    ...toSession({ ...session, userId }),
  }));
};
