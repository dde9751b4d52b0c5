import type { Handler } from '../handler.ts';
import { toSession } from './session.ts';

export const listUserSessions: Handler<'listUserSessions'> = async ({ path, actor }, { userDirectory }) => {
  const live = await userDirectory.sessionsOf(actor.developerId, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', data: live.map(toSession) } };
};
