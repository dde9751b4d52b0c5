import type { components } from '../../generated/types.ts';
import type { Verification } from '../../src/licensing/sessions/sessions.ts';

/** A verified session as the contract shows it. */
export function toVerification(verification: Verification): components['schemas']['VerifySessionResult'] {
  const { userId, username, expiresAt, subscription } = verification;
  return {
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
  };
}
