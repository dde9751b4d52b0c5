import type { Handler } from '../handler.ts';
import { toAdministeredPlan } from './plan.ts';

export const createPlan: Handler<'createPlan'> = async ({ body, actor }, { plans }) => {
  const plan = await plans.create(actor, {
    kind: body.kind ?? 'subscription',
    name: body.name,
    price: body.price,
    currency: body.currency ?? 'USD',
    period: body.period ?? 'lifetime',
    maxApps: body.max_apps ?? 0,
    maxUsersPerApp: body.max_users_per_app ?? 0,
    maxLicenses: body.max_licenses ?? null,
    licenses: body.licenses ?? null,
    balance: body.balance ?? null,
    features: body.features ?? [],
  });
  return { status: 201, body: { status: 'success', ...toAdministeredPlan(plan) } };
};
