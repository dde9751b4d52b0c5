import type { Handler } from '../handler.ts';
import { toPlanSubscription } from './subscription.ts';

export const updateSubscription: Handler<'updateSubscription'> = async (
  { body, actor },
  { planSubscriptions },
) => {
  const changed = await planSubscriptions.change(actor, {
    planName: body.plan_name,
    period: body.period,
    cancelAtPeriodEnd: body.cancel_at_period_end,
  });
  return { status: 200, body: toPlanSubscription(changed) };
};
