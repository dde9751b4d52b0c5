import type { components } from '../../generated/types.ts';
import type { PlanSubscription } from '../../src/commerce/billing/billing.ts';

/** A plan that was paid for, as the contract shows it. */
export function toPlanSubscription(
  subscription: PlanSubscription,
): components['schemas']['PlanSubscriptionResult'] {
  return {
    status: 'success',
    subscription_id: subscription.subscriptionId,
    plan_id: subscription.planId,
    plan_name: subscription.planName,
    period: subscription.period,
    state: subscription.state,
    period_end: subscription.periodEnd?.toISOString() ?? null,
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    created_at: subscription.createdAt.toISOString(),
  };
}
