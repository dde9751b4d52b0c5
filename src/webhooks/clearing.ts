import type { Knex } from 'knex';
import type { Clock } from '../platform/clock.ts';
import type { Keyring } from '../platform/keyring.ts';
import * as deliveryStore from './delivery-store.ts';
import { secretContext } from './signing.ts';
import * as store from './webhook-store.ts';

const DELIVERIES_KEPT_MS = 30 * 86_400_000;
/** Whoever was adding a delivery when an endpoint was deleted has done so by then. */
const FORGOTTEN_AFTER_MS = 3_600_000;
const CLEARED_AT_ONCE = 1_000;

/** What housekeeping does with webhooks, a part at a time. */
export interface Clearing {
  /** Deletes some deliveries that are 30 days old, and what is left of deleted endpoints. @returns how many rows */
  clearExpired(): Promise<number>;
  /** Deletes some deliveries of a deleted application. @returns how many */
  clearOf(appId: string): Promise<number>;
  /** Deletes some secrets from before a rotation whose overlap is over. @returns how many */
  clearPreviousSecrets(): Promise<number>;
  /** Seals some secrets anew under the current master key. @returns how many */
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
      const cleared = await deliveryStore.clearDeliveriesBefore(knex, old, CLEARED_AT_ONCE);
      if (cleared > 0) return cleared;
      const deleted = await store.findDeletedWebhook(knex);
      if (!deleted) return 0;
      const { webhook_id: webhookId } = deleted;
      const rows = await deliveryStore.clearDeliveriesOfWebhook(knex, webhookId, CLEARED_AT_ONCE);
      if (rows > 0 || now - deleted.deleted_at!.getTime() < FORGOTTEN_AFTER_MS) return rows;
      await store.forgetWebhook(knex, webhookId);
      return 1;
    },

    clearOf: (appId) => deliveryStore.clearDeliveriesOfApplication(knex, appId, CLEARED_AT_ONCE),

    clearPreviousSecrets: () => store.clearPreviousSecrets(knex, clock.now(), CLEARED_AT_ONCE),

    reseal: store.createSecretResealer(knex, keyring, secretContext),
  };
}
