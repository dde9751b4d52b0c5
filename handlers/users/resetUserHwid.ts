import type { Handler } from '../handler.ts';

export const resetUserHwid: Handler<'resetUserHwid'> = async ({ path, actor }, { users }) => {
  await users.resetHwid(actor, path.app_id, path.user_id);
  return { status: 200, body: { status: 'success', message: 'Hardware reset.' } };
};
