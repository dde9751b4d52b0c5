import type { Handler } from '../handler.ts';

export const endDeveloperSession: Handler<'endDeveloperSession'> = async (
  { path, actor },
  { developers },
) => {
  await developers.endSession(actor, path.developer_session_id);
  return { status: 200, body: { status: 'success', message: 'Session ended.' } };
};
