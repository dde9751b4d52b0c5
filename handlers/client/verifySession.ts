import type { Handler } from '../handler.ts';

export const verifySession: Handler<'verifySession'> = async ({ body }, { sessions }) => {
  const { userId, username, expiresAt, subscription } = await sessions.verify(
    body.app_id,
    body.token,
    body.hwid,
  );
  return {
    status: 200,
    body: {
      status: 'success',
      valid: true,
      user_id: userId,
      username,
      expiry: expiresAt.toISOString(),
      ...(subscription.status !== 'none' && { subscription_status: subscription.status }),
      ...(subscription.status === 'active' && {
        subscription_tier: subscription.tier,
        subscription_expires_at: subscription.expiresAt.toISOString(),
      }),
    },
  };
};
