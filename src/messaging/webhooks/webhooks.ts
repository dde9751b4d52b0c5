import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { type Change, type Events, type EventType } from '../../foundation/events/events.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import { COUNTED_AT_MOST } from '../../platform/database/bounded-count.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OutboundHttp } from '../../platform/outbound-http/index.ts';
import type { Random } from '../../platform/random.ts';
import { createClearing, type Clearing } from './clearing.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { countPending } from './delivery-store.ts';
import { startDeliveryWorker } from './delivery-worker.ts';
import { newSecret, secretContext } from './signing.ts';
import { toWebhook, type Webhook, type WebhookChanges, type WebhookSettings } from './webhook.ts';
import * as store from './webhook-store.ts';

export type { Delivery, DeliveryDetails, LoggedAttempt } from './deliveries.ts';
export type { Webhook, WebhookChanges, WebhookSettings } from './webhook.ts';

const ENDPOINTS_PER_APPLICATION = 20;
const OVERLAP_SECONDS = 86_400;

/** Endpoints of developers that receive events by HTTP, by the Standard Webhooks specification. */
export interface Webhooks extends Deliveries, Clearing {
  /**
   * @returns the endpoint and its secret, which is shown once
   * @throws ApiError APPLICATION_NOT_FOUND, QUOTA_EXCEEDED; VALIDATION_FAILED for a URL that no request may go to
   */
  create(
    actor: Actor,
    appId: string,
    settings: WebhookSettings,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }>;
  /** @throws ApiError APPLICATION_NOT_FOUND */
  list(developerId: string, appId: string, page: PageRequest): Promise<Page<Webhook>>;
  /** @throws ApiError APPLICATION_NOT_FOUND, WEBHOOK_NOT_FOUND */
  get(developerId: string, appId: string, webhookId: string): Promise<Webhook>;
  /** @throws ApiError APPLICATION_NOT_FOUND, WEBHOOK_NOT_FOUND, VALIDATION_FAILED as `create` */
  update(actor: Actor, appId: string, webhookId: string, changes: WebhookChanges): Promise<Webhook>;
  /** @throws ApiError APPLICATION_NOT_FOUND, WEBHOOK_NOT_FOUND */
  delete(actor: Actor, appId: string, webhookId: string): Promise<void>;
  /**
   * Replaces the secret of an endpoint.
   * @param overlapSeconds how long the previous secret signs as well; a day by default
   * @throws ApiError APPLICATION_NOT_FOUND, WEBHOOK_NOT_FOUND
   */
  rotateSecret(
    actor: Actor,
    appId: string,
    webhookId: string,
    overlapSeconds: number | undefined,
  ): Promise<{ readonly secret: string; readonly previousSecretExpiresAt: Date }>;
  /**
   * Sends nothing more to the endpoints of some applications, because their developer is suspended, inside the
   * caller's transaction. Events of the meantime get no delivery.
   */
  suspendOf(trx: Knex.Transaction, appIds: readonly string[]): Promise<void>;
  /** Ends that, inside the caller's transaction: waiting deliveries continue. */
  reinstateOf(trx: Knex.Transaction, appIds: readonly string[]): Promise<void>;
  /** How many deliveries are due or will be tried again: at most 10,000 are counted. */
  countWaiting(): Promise<number>;
  /** Starts to send deliveries. @returns stops it within 6 s */
  start(): Promise<{ stop(): Promise<void> }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<
    Applications,
    'ofDeveloper' | 'lockOfDeveloperForShare' | 'lockOfDeveloperForUpdate'
  >;
  readonly developers: Pick<Developers, 'lockSuspensionForShare'>;
  readonly events: Events;
  readonly audit: Audit;
  readonly jobs: Jobs;
  readonly outbound: OutboundHttp;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly logger: Logger;
}

export function createWebhooks(deps: Dependencies): Webhooks {
  const { knex, applications, developers, events, outbound, keyring, clock, random, newId } = deps;

  async function find(db: Knex, appId: string, webhookId: string): Promise<store.WebhookRow> {
    const row = await store.findWebhook(db, appId, webhookId);
    if (!row) throw new ApiError('WEBHOOK_NOT_FOUND');
    return row;
  }

  function assertUsable({ url }: WebhookChanges): void {
    const fault = url === undefined ? undefined : outbound.fault(url);
    if (fault !== undefined) throw invalidMember('/url', fault);
  }

  const seal = (webhookId: string, secret: string) =>
    keyring.seal(Buffer.from(secret), secretContext(webhookId));

  /** Changes an endpoint while it holds the lock of the application. */
  async function change<Result>(
    actor: Actor,
    appId: string,
    webhookId: string,
    type: EventType,
    work: (
      trx: Knex.Transaction,
      row: store.WebhookRow,
    ) => Promise<{ readonly result: Result } & Pick<Change, 'data' | 'remark'>>,
  ): Promise<Result> {
    return knex.transaction(async (trx) => {
      await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
      const { result, data, remark } = await work(trx, await find(trx, appId, webhookId));
      await events.record(trx, {
        type,
        appId,
        data: { webhook_id: webhookId, ...data },
        ...(remark && { remark }),
        actor,
        target: webhookId,
      });
      return result;
    });
  }

  return {
    ...createDeliveries({ ...deps, find }),
    ...createClearing(deps),

    countWaiting: () => countPending(knex, COUNTED_AT_MOST),
    suspendOf: (trx, appIds) => store.updateSuspensions(trx, appIds, clock.now()),
    reinstateOf: (trx, appIds) => store.updateSuspensions(trx, appIds, null),

    async create(actor, appId, { url, types, description }) {
      await applications.ofDeveloper(actor.developerId, appId);
      assertUsable({ url, types });
      const webhookId = newId('whk');
      const secret = newSecret(random);
      const now = clock.now();
      const row: Omit<store.WebhookRow, 'suspended_at'> = {
        webhook_id: webhookId,
        app_id: appId,
        url,
        types: [...types],
        description,
        secret_sealed: seal(webhookId, secret),
        previous_secret_sealed: null,
        previous_secret_expires_at: null,
        enabled: true,
        disabled_reason: null,
        disabled_at: null,
        failing_since: null,
        // Until its first quick response.
        slow: true,
        created_at: now,
        updated_at: now,
        deleted_at: null,
      };
      const created = await knex.transaction(async (trx) => {
        await applications.lockOfDeveloperForUpdate(trx, actor.developerId, appId);
        if ((await store.countWebhooks(trx, appId)) >= ENDPOINTS_PER_APPLICATION) {
          throw new ApiError('QUOTA_EXCEEDED', {
            detail: `An application has at most ${ENDPOINTS_PER_APPLICATION} webhook endpoints.`,
          });
        }
        // A suspension that began after the request was authenticated counts for this endpoint too.
        const suspended_at = await developers.lockSuspensionForShare(trx, actor.developerId);
        const inserted = { ...row, suspended_at };
        await store.insertWebhook(trx, inserted);
        const data = { webhook_id: webhookId, types };
        await events.record(trx, { type: 'webhook.created', appId, data, actor, target: webhookId });
        return inserted;
      });
      return { webhook: toWebhook(created), secret };
    },

    async list(developerId, appId, request) {
      await applications.ofDeveloper(developerId, appId);
      const page = await readPage(
        request,
        'whk',
        (row: store.WebhookRow) => row.webhook_id,
        (range) => store.listWebhooks(knex, appId, range),
      );
      return { data: page.data.map(toWebhook), nextCursor: page.nextCursor };
    },

    async get(developerId, appId, webhookId) {
      await applications.ofDeveloper(developerId, appId);
      return toWebhook(await find(knex, appId, webhookId));
    },

    async update(actor, appId, webhookId, changes) {
      await applications.ofDeveloper(actor.developerId, appId);
      const before = await find(knex, appId, webhookId);
      assertUsable(changes);
      const changed = Object.keys(changes).filter(
        (name) => changes[name as keyof WebhookChanges] !== undefined,
      );
      if (changed.length === 0) return toWebhook(before);
      return change(actor, appId, webhookId, 'webhook.updated', async (trx, row) => {
        const { url, types, description, enabled } = changes;
        const now = clock.now();
        const columns: Partial<store.WebhookRow> = {
          ...(url !== undefined && { url, failing_since: null, slow: true }),
          ...(types !== undefined && { types: [...types] }),
          ...(description !== undefined && { description }),
          ...(enabled === true &&
            !row.enabled && { enabled, disabled_reason: null, disabled_at: null, failing_since: null }),
          ...(enabled === false && row.enabled && { enabled, disabled_at: now }),
          updated_at: now,
        };
        await store.updateWebhook(trx, webhookId, columns);
        return {
          result: toWebhook({ ...row, ...columns }),
          data: { changed, ...(enabled !== undefined && { enabled }) },
          // Without the URL, which often holds a secret.
          remark: { types, description },
        };
      });
    },

    delete: (actor, appId, webhookId) =>
      change(actor, appId, webhookId, 'webhook.deleted', async (trx) => {
        await store.updateWebhook(trx, webhookId, { deleted_at: clock.now() });
        return { result: undefined };
      }),

    rotateSecret: (actor, appId, webhookId, overlapSeconds = OVERLAP_SECONDS) =>
      change(actor, appId, webhookId, 'webhook.secret_rotated', async (trx, row) => {
        const secret = newSecret(random);
        const now = clock.now();
        const previousSecretExpiresAt = new Date(now.getTime() + overlapSeconds * 1000);
        await store.updateWebhook(trx, webhookId, {
          secret_sealed: seal(webhookId, secret),
          previous_secret_sealed: overlapSeconds > 0 ? row.secret_sealed : null,
          previous_secret_expires_at: overlapSeconds > 0 ? previousSecretExpiresAt : null,
          updated_at: now,
        });
        return { result: { secret, previousSecretExpiresAt } };
      }),

    start: () => startDeliveryWorker(deps),
  };
}
