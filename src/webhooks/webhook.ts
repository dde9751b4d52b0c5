import type { WebhookRow } from './webhook-store.ts';

/** What a developer sets of an endpoint. */
export interface WebhookSettings {
  readonly url: string;
  /** Types of events; `*` is every type. */
  readonly types: readonly string[];
  readonly description: string | null;
}

/** An endpoint, without its secret. */
export interface Webhook extends WebhookSettings {
  readonly webhookId: string;
  readonly enabled: boolean;
  /** Why the service has disabled it. */
  readonly disabledReason: string | null;
  readonly disabledAt: Date | null;
  /** The first failure after the last success. */
  readonly failingSince: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is left out stays as it is. */
export type WebhookChanges = {
  readonly [Name in keyof WebhookSettings]?: WebhookSettings[Name] | undefined;
} & {
  readonly enabled?: boolean | undefined;
};

/** A row as the domain shows it. */
export function toWebhook(row: WebhookRow): Webhook {
  return {
    webhookId: row.webhook_id,
    url: row.url,
    types: row.types,
    description: row.description,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    failingSince: row.failing_since,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
