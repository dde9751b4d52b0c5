import type { Handler } from '../handler.ts';

export const endUserSessions: Handler<'endUserSessions'> = async ({ path, actor }, { userManagement }) => {
  const ended = await userManagement.endSessions(actor, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', message: 'Sessions ended.', ended } };
};
