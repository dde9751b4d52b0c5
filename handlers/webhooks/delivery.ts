import type { components } from '../../generated/types.ts';
import type { Delivery } from '../../src/messaging/webhooks/webhooks.ts';

/** A delivery as the contract shows it. */
export function toDelivery(delivery: Delivery): components['schemas']['WebhookDelivery'] {
  return {
    delivery_id: delivery.deliveryId,
    webhook_id: delivery.webhookId,
    cause: delivery.cause,
    state: delivery.state,
    event: { id: delivery.eventId, type: delivery.type },
    attempts: delivery.attempts,
    response_status: delivery.responseStatus,
    duration_ms: delivery.durationMs,
    error: delivery.error,
    last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: delivery.createdAt.toISOString(),
  };
}
