import type { Product } from '../platform/payments/index.ts';
import type { PlanRow } from '../plans/plans.ts';

/** What the payment processor needs to know of a plan. */
export function toProduct(plan: PlanRow): Product {
  return {
    productId: plan.plan_id,
    name: plan.name,
    amountMinor: plan.price_minor,
    currency: plan.currency,
    recurring: plan.period === 'lifetime' ? null : plan.period,
  };
}
