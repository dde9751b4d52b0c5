import { useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';

export type Webhook = Schemas['Webhook'];
export type WebhookBody = Schemas['CreateWebhookRequest'];

/** How many endpoints the contract allows. */
export const MOST_WEBHOOKS = 20;

export const webhooksKey = (appId: string) => ['application', appId, 'webhooks'];

/** The endpoints of an application. */
export function useWebhooks(appId: string) {
  return useCursorList([...webhooksKey(appId), 'list'], (cursor, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/webhooks', {
      path: { app_id: appId },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );
}

export const createWebhook = (appId: string, body: WebhookBody) =>
  call('POST /api/v2/dev/apps/{app_id}/webhooks', { path: { app_id: appId }, body, once: true });

/** Reads endpoints and their deliveries again after a change. */
export function useWebhooksChanged(appId: string): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: webhooksKey(appId) });
}
