import type { Handler } from '../handler.ts';
import { toDelivery } from './delivery.ts';

export const getWebhookDelivery: Handler<'getWebhookDelivery'> = async ({ path, actor }, { webhooks }) => {
  const { app_id, webhook_id, delivery_id } = path;
  const delivery = await webhooks.getDelivery(actor.developerId, app_id, webhook_id, delivery_id);
  return {
    status: 200,
    body: {
      status: 'success',
      ...toDelivery(delivery),
      payload: delivery.payload,
      attempt_log: delivery.attemptLog.map((attempt) => ({ ...attempt })),
    },
  };
};
