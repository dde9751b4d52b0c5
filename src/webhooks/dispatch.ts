import type { Knex } from 'knex';
import type { Events } from '../events/events.ts';
import type { Clock } from '../platform/clock.ts';
import type { Jobs } from '../platform/jobs/index.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Logger } from '../platform/logger.ts';
import { OutboundFault, type OutboundHttp } from '../platform/outbound-http/index.ts';
import type { Random } from '../platform/random.ts';
import { repeatedly } from '../platform/repeatedly.ts';
import * as deliveries from './delivery-store.ts';
import { openSecrets, signedHeaders } from './signing.ts';
import { afterAttempt, errorOf, healthAfter, isSlow, type Attempt } from './webhook-state.ts';
import * as store from './webhook-store.ts';

/** How many endpoints one process sends to at once. */
const ENDPOINTS_AT_ONCE = 64;
/** How many requests one endpoint gets at once. */
const REQUESTS_AT_ONCE = 10;
/** Read and recorded at once for an endpoint that answers quickly; for another one, as many as it gets at once. */
const DELIVERIES_AT_ONCE = 50;
/** After so many deliveries an endpoint lets others go first. */
const DELIVERIES_A_TURN = 200;
const LOOKED_FOR_AT_ONCE = 500;

export interface DispatchDependencies {
  readonly knex: Knex;
  readonly events: Events;
  readonly jobs: Jobs;
  readonly outbound: OutboundHttp;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Sends what is due. The queue of jobs says which endpoints have anything to be sent, and gives each of them to one worker
 * of one process at a time; what is due is decided by the rows of the deliveries and the clock. A look for endpoints once a
 * second brings those whose retry is due.
 * @returns stops: requests under way get 3 s to end
 */
export async function startDispatch(deps: DispatchDependencies): Promise<{ stop(): Promise<void> }> {
  const { knex, jobs, outbound, clock, logger } = deps;

  const working = await jobs.start('webhooks', ENDPOINTS_AT_ONCE, (webhookId, signal) =>
    serve(deps, webhookId, signal),
  );
  let seen = '';
  const looking = repeatedly(
    async () => {
      const due = await deliveries.listDueEndpoints(knex, clock.now(), seen, LOOKED_FOR_AT_ONCE);
      await jobs.send(
        knex,
        'webhooks',
        due.map(({ webhook_id, slow }) => ({ key: webhook_id, slow })),
      );
      const more = due.length === LOOKED_FOR_AT_ONCE;
      seen = more ? due.at(-1)!.webhook_id : '';
      return more;
    },
    (error) => logger.debug({ err: error }, 'the look for due deliveries was put off'),
  );
  return {
    async stop() {
      await looking.stop();
      await working.stop();
      outbound.close();
    },
  };
}

/** Sends to one endpoint what is due, for its turn; for the rest the endpoint queues again, behind others. */
async function serve(deps: DispatchDependencies, webhookId: string, signal: AbortSignal): Promise<void> {
  const { knex, jobs, clock } = deps;
  let slow = false;
  for (let sent = 0; sent < DELIVERIES_A_TURN && !slow;) {
    const webhook = await store.findEnabledWebhook(knex, webhookId);
    if (!webhook) return;
    const atOnce = webhook.slow ? REQUESTS_AT_ONCE : DELIVERIES_AT_ONCE;
    const due = await deliveries.listDueDeliveries(knex, webhookId, clock.now(), atOnce);
    if (due.length === 0) return;
    sent += due.length;
    ({ slow } = await send(deps, webhook, due, signal));
  }
  await jobs.send(knex, 'webhooks', [{ key: webhookId, slow }]);
}

/** Makes one attempt at each of some deliveries until one is slow, and records what came of them. */
async function send(
  deps: DispatchDependencies,
  webhook: store.WebhookRow,
  due: readonly deliveries.DeliveryRow[],
  signal: AbortSignal,
): Promise<{ readonly slow: boolean }> {
  const secrets = openSecrets(deps.keyring, webhook, deps.clock.now());
  const made: Made[] = [];
  const waiting = due.values();
  const sending = async () => {
    for (const delivery of waiting) {
      const attempt = await attemptOf(deps, webhook, secrets, delivery, signal);
      made.push({ delivery, attempt });
      if (made.some((each) => isSlow(each.attempt))) return;
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: REQUESTS_AT_ONCE }, sending));
  const health = await record(deps, webhook, made);
  const broken = settled.find((each) => each.status === 'rejected');
  if (broken) throw broken.reason;
  return health;
}

async function attemptOf(
  { outbound, clock, logger }: DispatchDependencies,
  { url, webhook_id: webhookId }: store.WebhookRow,
  secrets: readonly string[],
  { event_id: eventId, payload }: deliveries.DeliveryRow,
  signal: AbortSignal,
): Promise<Attempt> {
  const attemptedAt = clock.now();
  const headers = signedHeaders(secrets, eventId, payload, attemptedAt);
  const duration = () => Math.max(clock.now().getTime() - attemptedAt.getTime(), 0);
  try {
    const { status, retryAfter, text } = await outbound.post(url, { headers, body: payload, signal });
    return { attemptedAt, durationMs: duration(), status, retryAfter, body: storable(text), fault: null };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof OutboundFault)) {
      logger.warn({ err: error, webhook_id: webhookId }, 'a webhook could not be sent');
    }
    const fault = error instanceof OutboundFault ? error.message : 'The request failed.';
    return { attemptedAt, durationMs: duration(), status: null, retryAfter: undefined, body: null, fault };
  }
}

interface Made {
  readonly delivery: deliveries.DeliveryRow;
  readonly attempt: Attempt;
}

/** Records attempts and how the endpoint is doing now; disables it when it is time. */
async function record(
  { knex, events, clock, random }: DispatchDependencies,
  webhook: store.WebhookRow,
  made: readonly Made[],
): Promise<{ readonly slow: boolean }> {
  const { webhook_id: webhookId, app_id: appId, failing_since: failingSince, slow } = webhook;
  const now = clock.now();
  const records = made.map(({ delivery, attempt }) => toRecord(delivery, attempt, now, random));
  const counting = made.filter(({ delivery }) => delivery.cause !== 'test').map(({ attempt }) => attempt);
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
  attempt: Attempt,
  now: Date,
  random: Random,
): deliveries.AttemptRecord {
  const chance = random.bytes(4).readUInt32BE() / 2 ** 32;
  const next = afterAttempt({ cause, attempts: attempts + 1 }, attempt, now, chance);
  return {
    delivery_id,
    attempts,
    state: next.state,
    next_attempt_at: next.nextAttemptAt,
    logged: {
      attempt: attempts + 1,
      attempted_at: attempt.attemptedAt.toISOString(),
      duration_ms: attempt.durationMs,
      response_status: attempt.status,
      response_body: attempt.body,
      error: errorOf(attempt),
    },
  };
}

/** The database keeps no NUL. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}
