import type { Handler } from '../handler.ts';

export const deleteUserVariable: Handler<'deleteUserVariable'> = async ({ path, actor }, { variables }) => {
  await variables.deleteOfUser(actor, path.app_id, path.user_id, path.name);
  return { status: 200, body: { status: 'success', message: 'Variable deleted.' } };
};
