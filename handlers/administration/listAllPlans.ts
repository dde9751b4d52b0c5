import type { Handler } from '../handler.ts';
import { toAdministeredPlan } from './plan.ts';

export const listAllPlans: Handler<'listAllPlans'> = async ({ query }, { plans }) => {
  const { limit, cursor } = query;
  const { data, nextCursor } = await plans.listAll({ limit, cursor });
  const body = { status: 'success', data: data.map(toAdministeredPlan), next_cursor: nextCursor } as const;
  return { status: 200, body };
};
