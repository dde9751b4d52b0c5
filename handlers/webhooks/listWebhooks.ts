import type { Handler } from '../handler.ts';
import { toWebhook } from './webhook.ts';

export const listWebhooks: Handler<'listWebhooks'> = async ({ path, query, actor }, { webhooks }) => {
  const { limit, cursor } = query;
  const page = await webhooks.list(actor.developerId, path.app_id, { limit, cursor });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toWebhook), next_cursor: page.nextCursor },
  };
};
