import type { Handler } from '../handler.ts';
import { toWebhook } from './webhook.ts';

export const createWebhook: Handler<'createWebhook'> = async ({ path, body, actor }, { webhooks }) => {
  const { webhook, secret } = await webhooks.create(actor, path.app_id, {
    url: body.url,
    types: body.types,
    description: body.description ?? null,
  });
  return { status: 201, body: { status: 'success', ...toWebhook(webhook), secret } };
};
