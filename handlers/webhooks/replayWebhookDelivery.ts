import type { Handler } from '../handler.ts';
import { toDelivery } from './delivery.ts';

export const replayWebhookDelivery: Handler<'replayWebhookDelivery'> = async (
  { path, actor },
  { webhooks },
) => {
  const { app_id, webhook_id, delivery_id } = path;
  const delivery = await webhooks.replayDelivery(actor, app_id, webhook_id, delivery_id);
  return { status: 202, body: { status: 'success', ...toDelivery(delivery) } };
};
