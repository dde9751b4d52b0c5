import type { Handler } from '../handler.ts';
import { toAdministeredPlan } from './plan.ts';

export const updatePlan: Handler<'updatePlan'> = async ({ path, body, actor }, { plans }) => {
  const plan = await plans.update(actor, path.plan_id, {
    name: body.name,
    price: body.price,
    maxApps: body.max_apps,
    maxUsersPerApp: body.max_users_per_app,
    maxLicenses: body.max_licenses,
    features: body.features,
  });
  return { status: 200, body: { status: 'success', ...toAdministeredPlan(plan) } };
};
