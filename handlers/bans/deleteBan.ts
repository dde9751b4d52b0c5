import type { Handler } from '../handler.ts';

export const deleteBan: Handler<'deleteBan'> = async ({ path, actor }, { moderation }) => {
  await moderation.lift(actor, path.app_id, path.ban_id);
  return { status: 200, body: { status: 'success', message: 'Ban lifted.' } };
};
