import type { Handler } from '../handler.ts';

export const activateLicense: Handler<'activateLicense'> = async (
  { body, client },
  { applications, users },
) => {
  const application = await applications.authenticate(body.app_id, body.secret);
  const redemption = await users.activate(application, body.username, body.license_key, client);
  return {
    status: 200,
    body: {
      status: 'success',
      message: 'License redeemed.',
      subscription_tier: redemption.tier,
      expires_at: redemption.expiresAt.toISOString(),
    },
  };
};
