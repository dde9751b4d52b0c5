import type { Handler } from '../handler.ts';

export const archivePlan: Handler<'archivePlan'> = async ({ path, actor }, { plans }) => {
  await plans.archive(actor, path.plan_id);
  return { status: 200, body: { status: 'success', message: 'Plan archived.' } };
};
