import type { Handler } from '../handler.ts';

export const resetUserPassword: Handler<'resetUserPassword'> = async (
  { path, body, actor },
  { userManagement },
) => {
  await userManagement.setPassword(actor, path.app_id, path.user_id, body.password);
  return { status: 200, body: { status: 'success', message: 'Password set.' } };
};
