import type { components } from '../../generated/types.ts';
import type { DeveloperDetails } from '../../src/access/administration/administration.ts';
import type { PlanSubscription } from '../../src/commerce/billing/billing.ts';
import type { ListedDeveloper } from '../../src/accounts/developers/developers.ts';
import { toPlanSubscription } from '../billing/subscription.ts';

type Schemas = components['schemas'];

/** A developer as the administrator sees them in the list. */
export function toAdminDeveloper(developer: ListedDeveloper): Schemas['AdminDeveloper'] {
  return {
    developer_id: developer.developerId,
    email: developer.email,
    email_verified: developer.emailVerified,
    name: developer.name,
    account_status: developer.suspendedAt === null ? 'active' : 'suspended',
    suspended_at: developer.suspendedAt?.toISOString() ?? null,
    plan: developer.plan,
    apps: developer.apps,
    created_at: developer.createdAt.toISOString(),
  };
}

/** All that the administrator sees of a developer. */
export function toDeveloperAccount(details: DeveloperDetails): Schemas['DeveloperAccountResult'] {
  const { account, subscription } = details;
  const { apps, maxUsersPerApp, licenses, graceEndsAt } = account;
  return {
    status: 'success',
    ...toAdminDeveloper(details),
    suspension_reason: details.suspensionReason,
    applications_disabled: details.applicationsDisabled,
    quotas: { apps, users_per_app: { limit: maxUsersPerApp, used: details.usersOfLargest }, licenses },
    subscription: subscription && toDeveloperSubscription(subscription),
    grace_ends_at: graceEndsAt?.toISOString() ?? null,
    last_sign_in_at: details.lastSignInAt?.toISOString() ?? null,
  };
}

function toDeveloperSubscription(subscription: PlanSubscription): Schemas['DeveloperSubscription'] {
  const { status: _status, ...shown } = toPlanSubscription(subscription);
  return shown;
}
