import type { Knex } from 'knex';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { PaymentsError, type Fact, type Payments } from '../platform/payments/index.ts';
import { isRowFault } from '../platform/row-fault.ts';
import * as checkoutStore from './checkout-store.ts';
import { OWN_ADDRESS, type Settlement } from './settlement.ts';
import * as store from './subscription-store.ts';

/** How long a notice may take before the processor is asked, and how long until it is asked again. */
const SILENCE_MS = 10 * 60 * 1000;
/** How long a renewal may be late. */
const LATE_MS = 60 * 60 * 1000;
const AT_ONCE = 10;

/** Finds purchases whose notices never came: it asks the processor what has become of them, and settles that. */
export interface Reconciliation {
  /** Looks some of them up. @returns how many */
  run(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: Payments;
  readonly settlement: Settlement;
  readonly logger: Logger;
  readonly clock: Clock;
}

export function createReconciliation(deps: Dependencies): Reconciliation {
  const { knex, payments, settlement, logger, clock } = deps;

  /** @returns whether the processor knows it */
  async function settleFacts(what: object, lookUp: () => Promise<readonly Fact[]>): Promise<boolean> {
    try {
      const facts = await lookUp();
      await settlement.settle(facts, OWN_ADDRESS);
      const news = facts.filter(
        (fact) => fact.kind !== 'checkout' || !['open', 'processing'].includes(fact.state),
      );
      if (news.length > 0) logger.warn(what, 'notices of a payment were missing');
      return true;
    } catch (error) {
      if (error instanceof PaymentsError) {
        logger.warn({ ...what, err: error }, 'the payment processor does not know a purchase');
        return false;
      }
      // One that cannot be settled is asked about again in ten minutes, and keeps no other waiting.
      if (!isRowFault(error)) throw error;
      logger.error({ ...what, err: error }, 'a purchase cannot be settled');
      return true;
    }
  }

  return {
    async run() {
      const now = clock.now();
      const before = (ms: number) => new Date(now.getTime() - ms);
      const checkouts = await checkoutStore.listSilentCheckouts(knex, before(SILENCE_MS), AT_ONCE);
      for (const { checkout_id, session_ref, expires_at, processor } of checkouts) {
        // Before it is looked up: one that cannot be must not keep the others waiting.
        await checkoutStore.updateCheckout(knex, checkout_id, { looked_up_at: now });
        if (session_ref !== null && processor === payments.processor) {
          if (await settleFacts({ checkout_id }, () => payments.lookUpCheckout(session_ref))) continue;
        }
        // Nobody was ever given its page, or nobody can say more.
        if (expires_at < now) await checkoutStore.updateCheckout(knex, checkout_id, { status: 'expired' });
      }
      const overdue = await store.listOverdue(knex, before(LATE_MS), before(SILENCE_MS), AT_ONCE);
      for (const { subscription_id, subscription_ref, processor } of overdue) {
        await store.updateSubscription(knex, subscription_id, { looked_up_at: now });
        // Nobody here takes the payments of its next periods.
        if (processor !== payments.processor) await settlement.suspend(subscription_id, OWN_ADDRESS);
        else await settleFacts({ subscription_id }, () => payments.lookUpSubscription(subscription_ref!));
      }
      return checkouts.length + overdue.length;
    },
  };
}
