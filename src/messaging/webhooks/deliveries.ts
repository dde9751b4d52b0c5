import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import {
  toMessage,
  type EventMessage,
  type Events,
  type PublishedEvent,
} from '../../foundation/events/events.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import * as deliveries from './delivery-store.ts';
import type { DeliveryCause, DeliveryState } from './webhook-state.ts';
import * as store from './webhook-store.ts';

export type { LoggedAttempt } from './delivery-store.ts';

/** How many events one replay request reads. */
const EVENTS_PER_REPLAY = 10_000;
const BATCH_SIZE = 500;

/** The delivery of one event to one endpoint. */
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
  /** Why the last attempt failed, in words. */
  readonly error: string | null;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
}

export interface DeliveryDetails extends Delivery {
  /** The body of the request. */
  readonly payload: string;
  readonly attemptLog: readonly deliveries.LoggedAttempt[];
}

/** Undefined members match everything. */
export interface DeliveryFilter {
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
}

export interface Replay {
  readonly since: Date;
  /** Now by default. */
  readonly until: Date | undefined;
  /** `nextCursor` of the previous request. */
  readonly cursor: string | undefined;
}

/** Deliveries and their results. The methods throw ApiError APPLICATION_NOT_FOUND and WEBHOOK_NOT_FOUND. */
export interface Deliveries {
  /**
   * Queues published events for the endpoints that subscribe to them. They are sent once the transaction has committed.
   */
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
  /** Sends the content of a delivery as a new delivery. @throws ApiError DELIVERY_NOT_FOUND, WEBHOOK_DISABLED */
  replayDelivery(actor: Actor, appId: string, webhookId: string, deliveryId: string): Promise<Delivery>;
  /**
   * Sends the events of a period again, the oldest first, and only the first 10,000 of them.
   * @returns how many, and the cursor of the remaining events; null when none remain
   * @throws ApiError WEBHOOK_DISABLED; VALIDATION_FAILED for an empty period and an invalid cursor
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
  readonly applications: Pick<Applications, 'ofDeveloper' | 'lockOfDeveloperForShare'>;
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

  /** Adds deliveries to one endpoint at the request of a developer. */
  async function enqueueFor<Result>(
    actor: Actor,
    appId: string,
    webhookId: string,
    action: string,
    work: (trx: Knex.Transaction, webhook: store.WebhookRow) => Promise<Result>,
  ): Promise<Result> {
    return knex.transaction(async (trx) => {
      await applications.lockOfDeveloperForShare(trx, actor.developerId, appId);
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
      const jobRequests = new Map<string, { key: string; slow: boolean }>();
      for (const event of published) {
        const subscribed = endpoints.filter(
          (endpoint) => endpoint.app_id === event.appId && subscribes(endpoint, event),
        );
        if (subscribed.length === 0) continue;
        const message = toMessage(event);
        const payload = JSON.stringify(message);
        for (const { webhook_id: webhookId, slow } of subscribed) {
          rows.push(newDelivery(webhookId, 'event', message, payload));
          jobRequests.set(webhookId, { key: webhookId, slow });
        }
      }
      await deliveries.insertDeliveries(trx, rows);
      await jobs.send(trx, 'webhooks', [...jobRequests.values()]);
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
      enqueueFor(actor, appId, webhookId, 'webhook.tested', async (trx) => {
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
      enqueueFor(actor, appId, webhookId, 'webhook.delivery_replayed', async (trx) => {
        const original = await deliveries.findDelivery(trx, webhookId, deliveryId);
        if (!original) throw new ApiError('DELIVERY_NOT_FOUND');
        const message = { id: original.event_id, type: original.type as EventMessage['type'] };
        const row = newDelivery(webhookId, 'replay', message, original.payload);
        await deliveries.insertDeliveries(trx, [row]);
        return pending(row);
      }),

    replayEvents: (actor, appId, webhookId, { since, until = clock.now(), cursor }) =>
      enqueueFor(actor, appId, webhookId, 'webhook.events_replayed', async (trx, webhook) => {
        if (!(since < until)) throw invalidMember('/since', 'must be before until, and in the past');
        let after = cursor === undefined ? undefined : fromCursor(cursor);
        let replayed = 0;
        let isComplete = false;
        for (let read = 0; read < EVENTS_PER_REPLAY && !isComplete; read += BATCH_SIZE) {
          const batch = await events.within(trx, appId, { since, until, after }, BATCH_SIZE);
          const rows = batch
            .filter((event) => subscribes(webhook, event))
            .map((event) => {
              const message = toMessage(event);
              return newDelivery(webhookId, 'replay', message, JSON.stringify(message));
            });
          await deliveries.insertDeliveries(trx, rows);
          replayed += rows.length;
          after = batch.at(-1) ?? after;
          isComplete = batch.length < BATCH_SIZE;
        }
        return { replayed, nextCursor: isComplete || !after ? null : toCursor(after) };
      }),
  };
}

/**
 * Whether an endpoint receives an event. It does not receive its own changes: its receiver may not have the secret yet.
 */
function subscribes(
  endpoint: Pick<store.WebhookRow, 'webhook_id' | 'types'>,
  { type, data }: PublishedEvent,
): boolean {
  const named = endpoint.types.includes('*') || endpoint.types.includes(type);
  return named && !(type.startsWith('webhook.') && data['webhook_id'] === endpoint.webhook_id);
}

interface EventPosition {
  readonly createdAt: Date;
  readonly eventId: string;
}

function toCursor({ createdAt, eventId }: EventPosition): string {
  return Buffer.from(`${createdAt.getTime()}.${eventId}`).toString('base64url');
}

function fromCursor(cursor: string): EventPosition {
  const [, time, eventId] =
    /^(\d{1,15})\.(evt_[0-9a-z]{26})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const createdAt = new Date(Number(time));
  if (eventId === undefined || Number.isNaN(createdAt.getTime())) {
    throw invalidMember('/cursor', 'must be the next_cursor of the previous response');
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
