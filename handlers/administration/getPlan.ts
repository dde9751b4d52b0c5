import type { Handler } from '../handler.ts';
import { toAdministeredPlan } from './plan.ts';

export const getPlan: Handler<'getPlan'> = async ({ path }, { plans }) => {
  const plan = await plans.get(path.plan_id);
  return { status: 200, body: { status: 'success', ...toAdministeredPlan(plan) } };
};
