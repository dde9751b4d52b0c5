import type { WebhookRow } from './webhook-store.ts';

/** The settings of an endpoint. */
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

/** Undefined members stay as they are. */
export type WebhookChanges = {
  readonly [Name in keyof WebhookSettings]?: WebhookSettings[Name] | undefined;
} & {
  readonly enabled?: boolean | undefined;
};

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
