import type { Knex } from 'knex';
import { errorOf, type AttemptResult } from '../delivery/attempt-state.ts';
import { orEndpointError, startDeliveryQueue, type Attempted } from '../delivery/delivery.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import type { OutboundHttp } from '../../platform/outbound-http/index.ts';
import type { Random } from '../../platform/random.ts';
import * as deliveries from './delivery-store.ts';
import { openSecrets, signedHeaders } from './signing.ts';
import { afterAttempt, healthAfter } from './webhook-state.ts';
import * as store from './webhook-store.ts';

export interface DeliveryWorkerDependencies {
  readonly knex: Knex;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly outbound: OutboundHttp;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Sends the webhook deliveries that are due. @returns stops it: requests in progress have 3 s to end */
export async function startDeliveryWorker(
  deps: DeliveryWorkerDependencies,
): Promise<{ stop(): Promise<void> }> {
  const { knex, keyring, clock } = deps;
  return startDeliveryQueue<store.WebhookRow, deliveries.DeliveryRow>(deps, {
    name: 'webhooks',
    findEndpoint: (webhookId) => store.findEnabledWebhook(knex, webhookId),
    listDue: (webhookId, limit) => deliveries.listDueDeliveries(knex, webhookId, clock.now(), limit),
    async listDueEndpoints(after, limit) {
      const due = await deliveries.listDueEndpoints(knex, clock.now(), after, limit);
      return due.map(({ webhook_id, slow }) => ({ key: webhook_id, slow }));
    },
    prepare(webhook) {
      const secrets = orEndpointError(() => openSecrets(keyring, webhook, clock.now()));
      return async ({ event_id, payload }, attemptedAt) => ({
        url: webhook.url,
        headers: signedHeaders(secrets, event_id, payload, attemptedAt),
        body: payload,
      });
    },
    record: (webhook, attempted) => record(deps, webhook, attempted),
    giveUp: ({ delivery_id }, reason) => deliveries.failDelivery(knex, delivery_id, reason),
  });
}

/** Records attempts and the health of the endpoint; disables an endpoint that has failed for too long. */
async function record(
  { knex, events, clock, random }: DeliveryWorkerDependencies,
  webhook: store.WebhookRow,
  attempted: readonly Attempted<deliveries.DeliveryRow>[],
): Promise<{ readonly slow: boolean }> {
  const { webhook_id: webhookId, app_id: appId, failing_since: failingSince, slow } = webhook;
  const now = clock.now();
  const records = attempted.map(({ delivery, result }) => toRecord(delivery, result, now, random));
  const counting = attempted.filter(({ delivery }) => delivery.cause !== 'test').map(({ result }) => result);
  const health = healthAfter({ failingSince, slow }, counting, now);
  const { disabledReason } = health;

  const same = (failingSince === null) === (health.failingSince === null) && slow === health.slow;
  if (same && disabledReason === null) {
    await deliveries.recordAttempts(knex, records);
    return health;
  }
  await knex.transaction(async (trx) => {
    await deliveries.recordAttempts(trx, records);
    const changed = await store.updateEnabledWebhook(trx, webhookId, {
      failing_since: health.failingSince,
      slow: health.slow,
      ...(disabledReason !== null && {
        enabled: false,
        disabled_reason: disabledReason,
        disabled_at: now,
        updated_at: now,
      }),
    });
    if (disabledReason === null || !changed) return;
    const data = { webhook_id: webhookId, reason: disabledReason };
    await events.record(trx, { type: 'webhook.disabled', appId, data });
  });
  return health;
}

function toRecord(
  { delivery_id, cause, attempts }: deliveries.DeliveryRow,
  result: AttemptResult,
  now: Date,
  random: Random,
): deliveries.AttemptRecord {
  const chance = random.bytes(4).readUInt32BE() / 2 ** 32;
  const next = afterAttempt({ cause, attempts: attempts + 1 }, result, now, chance);
  return {
    delivery_id,
    attempts,
    state: next.state,
    next_attempt_at: next.nextAttemptAt,
    logged: {
      attempt: attempts + 1,
      attempted_at: result.attemptedAt.toISOString(),
      duration_ms: result.durationMs,
      response_status: result.status,
      response_body: result.body,
      error: errorOf(result),
    },
  };
}
