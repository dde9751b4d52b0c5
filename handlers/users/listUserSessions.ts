import type { Handler } from '../handler.ts';

export const listUserSessions: Handler<'listUserSessions'> = async ({ path, actor }, { userDirectory }) => {
  const live = await userDirectory.sessionsOf(actor.developerId, path.app_id, path.user_id);
  const data = live.map(({ beganAt, expiresAt, machine }) => ({
    began_at: beganAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    machine,
  }));
  return { status: 200, body: { status: 'success', data } };
};
