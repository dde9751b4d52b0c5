import type { Handler } from '../handler.ts';

export const deleteWebhook: Handler<'deleteWebhook'> = async ({ path, actor }, { webhooks }) => {
  await webhooks.delete(actor, path.app_id, path.webhook_id);
  return { status: 200, body: { status: 'success', message: 'Webhook deleted.' } };
};
