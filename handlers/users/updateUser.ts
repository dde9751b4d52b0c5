import type { Handler } from '../handler.ts';
import { toUser } from './user.ts';

export const updateUser: Handler<'updateUser'> = async (
  { path, body, actor },
  { userManagement, userDirectory },
) => {
  await userManagement.update(actor, path.app_id, path.user_id, { email: body.email, role: body.role });
  const user = await userDirectory.get(actor.developerId, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', ...toUser(user) } };
};
