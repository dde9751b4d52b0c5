import type { Handler } from '../handler.ts';

export const deleteUser: Handler<'deleteUser'> = async ({ path, actor }, { userManagement }) => {
  await userManagement.delete(actor, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', message: 'User deleted.' } };
};
