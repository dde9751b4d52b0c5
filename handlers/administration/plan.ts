import type { components } from '../../generated/types.ts';
import type { Plan } from '../../src/accounts/plans/plans.ts';

/** A plan as the administrator sees it. */
export function toAdministeredPlan(plan: Plan): components['schemas']['AdminPlan'] {
  return {
    plan_id: plan.planId,
    kind: plan.kind,
    name: plan.name,
    price: plan.price,
    currency: plan.currency,
    period: plan.period,
    max_apps: plan.maxApps,
    max_users_per_app: plan.maxUsersPerApp,
    max_licenses: plan.maxLicenses,
    licenses: plan.licenses,
    balance: plan.balance,
    features: [...plan.features],
    archived: plan.archived,
    created_at: plan.createdAt.toISOString(),
    updated_at: plan.updatedAt.toISOString(),
  };
}
