import type { Handler } from '../handler.ts';

export const logoutUser: Handler<'logoutUser'> = async ({ body, trust }, { sessions }) => {
  await sessions.logout(body.app_id, body.token, { signed: false, trust });
  return { status: 200, body: { status: 'success', message: 'Session ended.' } };
};
