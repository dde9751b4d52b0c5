import type { Redemption } from '../../src/licensing/licenses/licenses.ts';

/** The result of a redemption. */
export function toRedemption({ tier, expiresAt }: Pick<Redemption, 'tier' | 'expiresAt'>) {
  return {
    status: 200,
    body: {
      status: 'success',
      message: 'License redeemed.',
      subscription_tier: tier,
      expires_at: expiresAt.toISOString(),
    },
  } as const;
}
