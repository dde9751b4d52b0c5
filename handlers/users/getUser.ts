import type { Handler } from '../handler.ts';
import { toUser } from './user.ts';

export const getUser: Handler<'getUser'> = async ({ path, actor }, { userDirectory }) => {
  const user = await userDirectory.get(actor.developerId, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', ...toUser(user) } };
};
