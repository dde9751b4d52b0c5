import type { components } from '../../generated/types.ts';
import type { ResellerLicense } from '../../src/licensing/licenses/licenses.ts';
import type { ResellerUser } from '../../src/commerce/resellers/resellers.ts';
import { toDuration } from '../licenses/duration.ts';

type Schemas = components['schemas'];

/** A license as the contract shows it to the reseller who generated it. */
export function toResellerLicense(license: ResellerLicense): Schemas['ResellerLicense'] {
  return {
    license_id: license.licenseId,
    license_key: license.licenseKey,
    app_id: license.appId,
    tier: license.tier,
    ...toDuration(license.durationDays),
    status: license.status,
    note: license.note,
    redeemed_at: license.redeemedAt?.toISOString() ?? null,
    redeemed_by: license.redeemedBy,
    created_at: license.createdAt.toISOString(),
  };
}

/** A user as the contract shows them to the reseller whose key they redeemed. */
export function toResellerUser({
  userId,
  username,
  appId,
  subscription,
}: ResellerUser): Schemas['ResellerUser'] {
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
