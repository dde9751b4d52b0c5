import type { Handler } from '../handler.ts';

export const unbanUser: Handler<'unbanUser'> = async ({ path, actor }, { moderation }) => {
  await moderation.unbanUser(actor, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', message: 'Ban lifted.' } };
};
