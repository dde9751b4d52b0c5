import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { webhooksKey } from '../webhooks/queries.ts';

export type Delivery = Schemas['WebhookDelivery'];
export type DeliveryDetails = Schemas['WebhookDeliveryDetailsResult'];
type DeliveryState = Schemas['WebhookDeliveryState'];

export interface WebhookPath {
  readonly app_id: string;
  readonly webhook_id: string;
}

interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
}

const keyOf = ({ app_id, webhook_id }: WebhookPath) => [...webhooksKey(app_id), webhook_id];

export const webhookQuery = (path: WebhookPath) =>
  queryOptions({
    queryKey: keyOf(path),
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}', { path: { ...path }, signal }),
  });

/** The deliveries that match, newest first. */
export function useDeliveries(path: WebhookPath, filter: DeliveryFilter) {
  return useCursorList([...keyOf(path), 'deliveries', filter], (cursor, signal) =>
    call('GET /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}/deliveries', {
      path: { ...path },
      query: {
        limit: PAGE_SIZE,
        ...(filter.state && { state: filter.state }),
        ...(filter.type && { type: filter.type }),
        ...(cursor && { cursor }),
      },
      signal,
    }),
  );
}

const SOON_MS = 1_500;

/** One delivery. While its next attempt is near, it is read again and again. */
export const deliveryQuery = (path: WebhookPath, deliveryId: string) =>
  queryOptions({
    queryKey: [...keyOf(path), 'delivery', deliveryId],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}/deliveries/{delivery_id}', {
        path: { ...path, delivery_id: deliveryId },
        signal,
      }),
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'pending' && data.attempts === 0 ? SOON_MS : false,
  });

/** The changes of one endpoint. */
export function webhookActions({ app_id, webhook_id }: WebhookPath) {
  const path = { app_id, webhook_id };
  return {
    update: (body: Schemas['UpdateWebhookRequest']) =>
      call('PATCH /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}', { path, body }),
    delete: () => call('DELETE /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}', { path }),
    test: () => call('POST /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}/test', { path, once: true }),
    replay: (body: Schemas['ReplayWebhookEventsRequest']) =>
      call('POST /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}/replay', { path, body, once: true }),
    replayDelivery: (deliveryId: string) =>
      call('POST /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/replay', {
        path: { ...path, delivery_id: deliveryId },
        once: true,
      }),
    rotateSecret: (overlapSeconds: number) =>
      call('POST /api/v2/dev/apps/{app_id}/webhooks/{webhook_id}/rotate-secret', {
        path,
        body: { overlap_seconds: overlapSeconds },
        once: true,
      }),
  };
}

const overlapKey = ({ app_id, webhook_id }: WebhookPath) => ['overlap', app_id, webhook_id];

/**
 * Until when the previous secret also signs. Only the response to a rotation says so: the page remembers it until it is
 * loaded again.
 */
export function useOverlap(path: WebhookPath): readonly [string | null, (until: string | null) => void] {
  const client = useQueryClient();
  const queryKey = overlapKey(path);
  const { data } = useQuery<string | null>({ queryKey, initialData: null, enabled: false, gcTime: Infinity });
  return [data, (until) => client.setQueryData(queryKey, until)];
}
