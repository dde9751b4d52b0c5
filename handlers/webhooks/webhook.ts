import type { components } from '../../generated/types.ts';
import type { Webhook } from '../../src/messaging/webhooks/webhooks.ts';

/** A webhook endpoint as the contract shows it. */
export function toWebhook(webhook: Webhook): components['schemas']['Webhook'] {
  return {
    webhook_id: webhook.webhookId,
    url: webhook.url,
    types: [...webhook.types],
    description: webhook.description,
    enabled: webhook.enabled,
    disabled_reason: webhook.disabledReason,
    disabled_at: webhook.disabledAt?.toISOString() ?? null,
    failing_since: webhook.failingSince?.toISOString() ?? null,
    created_at: webhook.createdAt.toISOString(),
    updated_at: webhook.updatedAt.toISOString(),
  };
}
