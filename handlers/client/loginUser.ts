import type { Handler } from '../handler.ts';

export const loginUser: Handler<'loginUser'> = async ({ body, client }, { applications, logins }) => {
  const application = await applications.authenticate(body.app_id, body.secret);
  const { session, user } = await logins.withPassword(application, body, 'signed', client);
  return {
    status: 200,
    body: {
      status: 'success',
      token: session.token,
      session_id: session.sessionId,
      expiry: session.expiresAt.toISOString(),
      user: { id: user.userId, username: user.username, hwid: body.hwid, role: user.role },
    },
  };
};
