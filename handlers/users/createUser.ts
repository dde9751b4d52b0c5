import type { Handler } from '../handler.ts';
import { toUser } from './user.ts';

export const createUser: Handler<'createUser'> = async (
  { path, body, actor },
  { userManagement, userDirectory },
) => {
  const userId = await userManagement.create(actor, path.app_id, {
    username: body.username,
    password: body.password,
    email: body.email,
    role: body.role,
  });
  const user = await userDirectory.get(actor.developerId, path.app_id, userId);
  return { status: 201, body: { status: 'success', ...toUser(user) } };
};
