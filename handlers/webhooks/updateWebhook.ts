import type { Handler } from '../handler.ts';
import { toWebhook } from './webhook.ts';

export const updateWebhook: Handler<'updateWebhook'> = async ({ path, body, actor }, { webhooks }) => {
  const { url, types, description, enabled } = body;
  const changes = { url, types, description, enabled };
  const webhook = await webhooks.update(actor, path.app_id, path.webhook_id, changes);
  return { status: 200, body: { status: 'success', ...toWebhook(webhook) } };
};
