import type { Handler } from '../handler.ts';

export const endSession: Handler<'endSession'> = async ({ path, actor }, { userManagement }) => {
  await userManagement.endSession(actor, path.app_id, path.session_ref);
  return { status: 200, body: { status: 'success', message: 'Session ended.' } };
};
