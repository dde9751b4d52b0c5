import type { Handler } from '../handler.ts';

export const resetResellerUserHwid: Handler<'resetResellerUserHwid'> = async (
  { path, actor, resellerId },
  { resellerAccount },
) => {
  await resellerAccount.resetHwid(actor, resellerId, path.user_id);
  return { status: 200, body: { status: 'success', message: 'Hardware lock reset.' } };
};
