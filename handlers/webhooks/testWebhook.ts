import type { Handler } from '../handler.ts';
import { toDelivery } from './delivery.ts';

export const testWebhook: Handler<'testWebhook'> = async ({ path, actor }, { webhooks }) => {
  const delivery = await webhooks.test(actor, path.app_id, path.webhook_id);
  return { status: 202, body: { status: 'success', ...toDelivery(delivery) } };
};
