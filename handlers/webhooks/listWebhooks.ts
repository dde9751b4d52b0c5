import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toWebhook } from './webhook.ts';

export const listWebhooks: Handler<'listWebhooks'> = async ({ path, query, actor }, { webhooks }) => {
  const { limit, cursor } = query;
  const page = await webhooks.list(actor.developerId, path.app_id, { limit, cursor });
  return toPage(page, toWebhook);
};
