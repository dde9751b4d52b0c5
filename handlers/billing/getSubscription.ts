import type { Handler } from '../handler.ts';
import { toPlanSubscription } from './subscription.ts';

export const getSubscription: Handler<'getSubscription'> = async ({ actor }, { planSubscriptions }) => ({
  status: 200,
  body: toPlanSubscription(await planSubscriptions.get(actor.developerId)),
});
