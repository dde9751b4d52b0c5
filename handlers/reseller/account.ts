import type { components } from '../../generated/types.ts';
import type { ResellerLicense } from '../../src/licenses/licenses.ts';
import type { OwnUser } from '../../src/resellers/resellers.ts';

type Schemas = components['schemas'];

/** A licence as the contract shows it to the reseller who has generated it. */
export function toResellerLicense(license: ResellerLicense): Schemas['ResellerLicense'] {
  return {
    license_id: license.licenseId,
    license_key: license.licenseKey,
    app_id: license.appId,
    tier: license.tier,
    duration_days: license.durationDays,
    status: license.status,
    note: license.note,
    redeemed_at: license.redeemedAt?.toISOString() ?? null,
    redeemed_by: license.redeemedBy,
    created_at: license.createdAt.toISOString(),
  };
}

/** A user as the contract shows him to the reseller whose key he has redeemed. */
export function toResellerUser({ userId, username, appId, subscription }: OwnUser): Schemas['ResellerUser'] {
  const running = subscription.status === 'active' ? subscription : undefined;
  return {
    user_id: userId,
    username,
    app_id: appId,
    subscription_tier: running?.tier ?? null,
    subscription_status: subscription.status,
    subscription_expires_at: running?.expiresAt.toISOString() ?? null,
  };
}
