import type { Knex } from 'knex';
import type { Applications } from '../applications/applications.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import { toMessage, type EventMessage, type Events, type PublishedEvent } from '../events/events.ts';
import { readPage, type Page, type PageRequest } from '../paging/page.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Jobs } from '../platform/jobs/index.ts';
import * as deliveries from './delivery-store.ts';
import type { DeliveryCause, DeliveryState } from './webhook-state.ts';
import * as store from './webhook-store.ts';

export type { LoggedAttempt } from './delivery-store.ts';

/** How many events one request to replay looks through, and how many of them at once. */
const REPLAYED_AT_MOST = 10_000;
const READ_AT_ONCE = 500;

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly cause: DeliveryCause;
  readonly state: DeliveryState;
  readonly eventId: string;
  readonly type: string;
  readonly attempts: number;
  readonly responseStatus: number | null;
  readonly durationMs: number | null;
  /** What was wrong with the last attempt, in words. */
  readonly error: string | null;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

export interface DeliveryDetails extends Delivery {
  /** The body as it is sent. */
  readonly payload: string;
  readonly attemptLog: readonly deliveries.LoggedAttempt[];
}

/** What is looked for; what is left out matches everything. */
export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
}

export interface Replay {
  readonly since: Date;
  /** The present when undefined. */
  readonly until: Date | undefined;
  /** `nextCursor` of the request before. */
  readonly cursor: string | undefined;
}

/** What is sent to endpoints, and what became of it. Each method throws ApiError APPLICATION_NOT_FOUND, WEBHOOK_NOT_FOUND. */
export interface Deliveries {
  /** Has published events sent to the endpoints that want them, when the caller's transaction has ended. */
  enqueue(trx: Knex.Transaction, events: readonly PublishedEvent[]): Promise<void>;
  /** Newest first. */
  listDeliveries(
    developerId: string,
    appId: string,
    webhookId: string,
    filter: DeliveryFilter,
    page: PageRequest,
  ): Promise<Page<Delivery>>;
  /** @throws ApiError DELIVERY_NOT_FOUND */
  getDelivery(
    developerId: string,
    appId: string,
    webhookId: string,
    deliveryId: string,
  ): Promise<DeliveryDetails>;
  /** Sends `webhook.test` once. @throws ApiError WEBHOOK_DISABLED */
  test(actor: Actor, appId: string, webhookId: string): Promise<Delivery>;
  /** Sends what a delivery held as a new one. @throws ApiError DELIVERY_NOT_FOUND, WEBHOOK_DISABLED */
  replayDelivery(actor: Actor, appId: string, webhookId: string, deliveryId: string): Promise<Delivery>;
  /**
   * Sends the events of a time again, the oldest first, a part of them when they are many.
   * @returns how many, and where the next part begins; null when there is none
   * @throws ApiError WEBHOOK_DISABLED; VALIDATION_FAILED for a time without length and a cursor that is none
   */
  replayEvents(
    actor: Actor,
    appId: string,
    webhookId: string,
    replay: Replay,
  ): Promise<{ readonly replayed: number; readonly nextCursor: string | null }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'ofDeveloper' | 'holdOfDeveloper'>;
  readonly events: Events;
  readonly audit: Audit;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly newId: NewId;
  /** An endpoint of an application. @throws ApiError WEBHOOK_NOT_FOUND */
  readonly find: (db: Knex, appId: string, webhookId: string) => Promise<store.WebhookRow>;
}

export function createDeliveries(deps: Dependencies): Deliveries {
  const { knex, applications, events, audit, jobs, clock, newId, find } = deps;

  function newDelivery(
    webhookId: string,
    cause: DeliveryCause,
    message: Pick<EventMessage, 'id' | 'type'>,
    payload: string,
  ): deliveries.NewDelivery {
    const now = clock.now();
    return {
      delivery_id: newId('dlv'),
      webhook_id: webhookId,
      event_id: message.id,
      type: message.type,
      cause,
      payload,
      next_attempt_at: now,
      created_at: now,
    };
  }

  /** Adds deliveries for one endpoint that a developer asks for. */
  async function order<Result>(
    actor: Actor,
    appId: string,
    webhookId: string,
    action: string,
    work: (trx: Knex.Transaction, webhook: store.WebhookRow) => Promise<Result>,
  ): Promise<Result> {
    return knex.transaction(async (trx) => {
      await applications.holdOfDeveloper(trx, actor.developerId, appId);
      const webhook = await find(trx, appId, webhookId);
      if (!webhook.enabled) throw new ApiError('WEBHOOK_DISABLED');
      const result = await work(trx, webhook);
      await audit.record(trx, actor, { action, appId, target: webhookId });
      await jobs.send(trx, 'webhooks', [{ key: webhookId, slow: webhook.slow }]);
      return result;
    });
  }

  return {
    async enqueue(trx, published) {
      const appIds = [...new Set(published.map(({ appId }) => appId))];
      const endpoints = await store.listEnabledWebhooks(trx, appIds);
      if (endpoints.length === 0) return;
      const rows: deliveries.NewDelivery[] = [];
      const asked = new Map<string, { key: string; slow: boolean }>();
      for (const event of published) {
        const wanting = endpoints.filter(
          (endpoint) => endpoint.app_id === event.appId && wants(endpoint, event),
        );
        if (wanting.length === 0) continue;
        const message = toMessage(event);
        const payload = JSON.stringify(message);
        for (const { webhook_id: webhookId, slow } of wanting) {
          rows.push(newDelivery(webhookId, 'event', message, payload));
          asked.set(webhookId, { key: webhookId, slow });
        }
      }
      await deliveries.insertDeliveries(trx, rows);
      await jobs.send(trx, 'webhooks', [...asked.values()]);
    },

    async listDeliveries(developerId, appId, webhookId, filter, request) {
      await applications.ofDeveloper(developerId, appId);
      await find(knex, appId, webhookId);
      const page = await readPage(
        request,
        'dlv',
        (row: deliveries.ListedDelivery) => row.delivery_id,
        (range) => deliveries.listDeliveries(knex, webhookId, filter, range),
      );
      return { data: page.data.map(toDelivery), nextCursor: page.nextCursor };
    },

    async getDelivery(developerId, appId, webhookId, deliveryId) {
      await applications.ofDeveloper(developerId, appId);
      await find(knex, appId, webhookId);
      const row = await deliveries.findDelivery(knex, webhookId, deliveryId);
      if (!row) throw new ApiError('DELIVERY_NOT_FOUND');
      return { ...toDelivery(row), payload: row.payload, attemptLog: row.attempt_log };
    },

    test: (actor, appId, webhookId) =>
      order(actor, appId, webhookId, 'webhook.tested', async (trx) => {
        const message: EventMessage = {
          id: newId('evt'),
          type: 'webhook.test',
          timestamp: clock.now().toISOString(),
          app_id: appId,
          user_id: null,
          data: { webhook_id: webhookId },
        };
        const row = newDelivery(webhookId, 'test', message, JSON.stringify(message));
        await deliveries.insertDeliveries(trx, [row]);
        return pending(row);
      }),

    replayDelivery: (actor, appId, webhookId, deliveryId) =>
      order(actor, appId, webhookId, 'webhook.delivery_replayed', async (trx) => {
        const before = await deliveries.findDelivery(trx, webhookId, deliveryId);
        if (!before) throw new ApiError('DELIVERY_NOT_FOUND');
        const message = { id: before.event_id, type: before.type as EventMessage['type'] };
        const row = newDelivery(webhookId, 'replay', message, before.payload);
        await deliveries.insertDeliveries(trx, [row]);
        return pending(row);
      }),

    replayEvents: (actor, appId, webhookId, { since, until = clock.now(), cursor }) =>
      order(actor, appId, webhookId, 'webhook.events_replayed', async (trx, webhook) => {
        if (!(since < until)) throw invalidMember('/since', 'must be before until, and before the present');
        let after = cursor === undefined ? undefined : fromCursor(cursor);
        let replayed = 0;
        let ended = false;
        for (let read = 0; read < REPLAYED_AT_MOST && !ended; read += READ_AT_ONCE) {
          const part = await events.within(trx, appId, { since, until, after }, READ_AT_ONCE);
          const rows = part
            .filter((event) => wants(webhook, event))
            .map((event) => {
              const message = toMessage(event);
              return newDelivery(webhookId, 'replay', message, JSON.stringify(message));
            });
          await deliveries.insertDeliveries(trx, rows);
          replayed += rows.length;
          after = part.at(-1) ?? after;
          ended = part.length < READ_AT_ONCE;
        }
        return { replayed, nextCursor: ended || !after ? null : toCursor(after) };
      }),
  };
}

/** Whether an endpoint is told of an event. Of its own changes it is not: its secret may not be in place yet. */
function wants(
  endpoint: Pick<store.WebhookRow, 'webhook_id' | 'types'>,
  { type, data }: PublishedEvent,
): boolean {
  const named = endpoint.types.includes('*') || endpoint.types.includes(type);
  return named && !(type.startsWith('webhook.') && data['webhook_id'] === endpoint.webhook_id);
}

interface Place {
  readonly createdAt: Date;
  readonly eventId: string;
}

function toCursor({ createdAt, eventId }: Place): string {
  return Buffer.from(`${createdAt.getTime()}.${eventId}`).toString('base64url');
}

function fromCursor(cursor: string): Place {
  const [, time, eventId] =
    /^(\d{1,15})\.(evt_[0-9a-z]{26})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const createdAt = new Date(Number(time));
  if (eventId === undefined || Number.isNaN(createdAt.getTime())) {
    throw invalidMember('/cursor', 'must be the next_cursor of the request before');
  }
  return { createdAt, eventId };
}

function pending(row: deliveries.NewDelivery): Delivery {
  return toDelivery({
    ...row,
    state: 'pending',
    attempts: 0,
    last_attempt_at: null,
    response_status: null,
    duration_ms: null,
    error: null,
  });
}

function toDelivery(row: deliveries.ListedDelivery): Delivery {
  return {
    deliveryId: row.delivery_id,
    webhookId: row.webhook_id,
    cause: row.cause,
    state: row.state,
    eventId: row.event_id,
    type: row.type,
    attempts: row.attempts,
    responseStatus: row.response_status,
    durationMs: row.duration_ms,
    error: row.error,
    lastAttemptAt: row.last_attempt_at,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
  };
}
