import type { Product } from '../../platform/payments/index.ts';
import type { PlanRow } from '../../accounts/plans/plans.ts';

/** A plan as the payment processor sells it. */
export function toProduct(plan: PlanRow): Product {
  return {
    productId: plan.plan_id,
    name: plan.name,
    amountMinor: plan.price_minor,
    currency: plan.currency,
    recurring: plan.period === 'lifetime' ? null : plan.period,
  };
}
