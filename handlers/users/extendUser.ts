import type { Handler } from '../handler.ts';

export const extendUser: Handler<'extendUser'> = async ({ path, body, actor }, { userManagement }) => {
  const { tier, expiresAt } = await userManagement.extend(actor, path.app_id, path.user_id, {
    tier: body.tier,
    durationDays: body.days ?? null,
  });
  return { status: 200, body: { status: 'success', tier, expires_at: expiresAt.toISOString() } };
};
