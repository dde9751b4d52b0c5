import type { Handler } from '../handler.ts';
import { toWebhook } from './webhook.ts';

export const getWebhook: Handler<'getWebhook'> = async ({ path, actor }, { webhooks }) => {
  const webhook = await webhooks.get(actor.developerId, path.app_id, path.webhook_id);
  return { status: 200, body: { status: 'success', ...toWebhook(webhook) } };
};
