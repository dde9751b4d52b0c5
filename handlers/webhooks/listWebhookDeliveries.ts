import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toDelivery } from './delivery.ts';

export const listWebhookDeliveries: Handler<'listWebhookDeliveries'> = async (
  { path, query, actor },
  { webhooks },
) => {
  const { limit, cursor, state, type } = query;
  const page = await webhooks.listDeliveries(
    actor.developerId,
    path.app_id,
    path.webhook_id,
    { state, type },
    { limit, cursor },
  );
  return toPage(page, toDelivery);
};
