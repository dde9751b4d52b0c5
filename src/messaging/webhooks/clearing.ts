import type { Knex } from 'knex';
import type { Clock } from '../../platform/clock.ts';
import type { Keyring } from '../../platform/keyring.ts';
import * as deliveryStore from './delivery-store.ts';
import { secretContext } from './signing.ts';
import * as store from './webhook-store.ts';

const DELIVERIES_KEPT_MS = 30 * 86_400_000;
/** By then, all deliveries that were being added when the endpoint was deleted have been added. */
const REMOVED_AFTER_MS = 3_600_000;
const BATCH_SIZE = 1_000;

/** Housekeeping of webhooks. Each call handles one batch. */
export interface Clearing {
  /** Deletes deliveries that are 30 days old, and deleted endpoints. @returns how many rows */
  clearExpired(): Promise<number>;
  /** Deletes deliveries of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Deletes previous secrets after the overlap of their rotation. @returns how many */
  clearPreviousSecrets(): Promise<number>;
  /** Seals secrets again under the current master key. @returns how many */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

export function createClearing({ knex, keyring, clock }: Dependencies): Clearing {
  return {
    async clearExpired() {
      const now = clock.now().getTime();
      const old = new Date(now - DELIVERIES_KEPT_MS);
      const cleared = await deliveryStore.clearDeliveriesBefore(knex, old, BATCH_SIZE);
      if (cleared > 0) return cleared;
      const deleted = await store.findDeletedWebhook(knex);
      if (!deleted) return 0;
      const { webhook_id: webhookId } = deleted;
      const rows = await deliveryStore.clearDeliveriesOfWebhook(knex, webhookId, BATCH_SIZE);
      if (rows > 0 || now - deleted.deleted_at!.getTime() < REMOVED_AFTER_MS) return rows;
      await store.removeWebhook(knex, webhookId);
      return 1;
    },

    clearOf: (appId) => deliveryStore.clearDeliveriesOfApplication(knex, appId, BATCH_SIZE),

    clearPreviousSecrets: () => store.clearPreviousSecrets(knex, clock.now(), BATCH_SIZE),

    reseal: store.createSecretResealer(knex, keyring, secretContext),
  };
}
