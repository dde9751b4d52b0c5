import type { Handler } from '../handler.ts';

export const extendUsers: Handler<'extendUsers'> = async ({ path, body, actor }, { userManagement }) => {
  const counts = await userManagement.extendMany(actor, path.app_id, {
    tier: body.tier,
    durationDays: body.days,
    userIds: body.user_ids,
  });
  return { status: 200, body: { status: 'success', ...counts } };
};
