import type { Knex } from 'knex';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import { PaymentsError, type PaymentFact, type PaymentProcessor } from '../../../platform/payments/index.ts';
import { isRowFault } from '../../../platform/row-fault.ts';
import * as checkoutStore from '../checkout-store.ts';
import { OWN_ADDRESS, type Settlement } from './settlement.ts';
import * as store from '../subscription-store.ts';

/** How long to wait for an event before a lookup at the processor, and between lookups. */
const SILENCE_MS = 10 * 60 * 1000;
/** How long a renewal may be late. */
const LATE_MS = 60 * 60 * 1000;
const AT_ONCE = 10;

/** Finds purchases whose events never arrived, and settles what the processor says about them. */
export interface Reconciliation {
  /** Looks up a batch of them. @returns how many */
  run(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly payments: PaymentProcessor;
  readonly settlement: Settlement;
  readonly logger: Logger;
  readonly clock: Clock;
}

export function createReconciliation(deps: Dependencies): Reconciliation {
  const { knex, payments, settlement, logger, clock } = deps;

  /** @returns whether the processor knows the purchase */
  async function settleFacts(what: object, lookUp: () => Promise<readonly PaymentFact[]>): Promise<boolean> {
    try {
      const facts = await lookUp();
      await settlement.settle(facts, OWN_ADDRESS);
      const news = facts.filter(
        (fact) => fact.kind !== 'checkout' || !['open', 'processing'].includes(fact.state),
      );
      if (news.length > 0) logger.warn(what, 'payment events were missing');
      return true;
    } catch (error) {
      if (error instanceof PaymentsError) {
        logger.warn({ ...what, err: error }, 'the payment processor has no record of a purchase');
        return false;
      }
      // A purchase that cannot be settled is looked up again in ten minutes, and does not delay the others.
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
        // Before the lookup: a checkout that cannot be looked up must not delay the others.
        await checkoutStore.updateCheckout(knex, checkout_id, { looked_up_at: now });
        if (session_ref !== null && processor === payments.processor) {
          if (await settleFacts({ checkout_id }, () => payments.lookUpCheckout(session_ref))) continue;
        }
        // Its page was never shown, or its processor has no record of it.
        if (expires_at < now) await checkoutStore.updateCheckout(knex, checkout_id, { status: 'expired' });
      }
      const overdue = await store.listOverdue(knex, before(LATE_MS), before(SILENCE_MS), AT_ONCE);
      for (const { subscription_id, subscription_ref, processor } of overdue) {
        await store.updateSubscription(knex, subscription_id, { looked_up_at: now });
        // The configured processor does not collect the payments of its next periods.
        if (processor !== payments.processor) await settlement.suspend(subscription_id, OWN_ADDRESS);
        else await settleFacts({ subscription_id }, () => payments.lookUpSubscription(subscription_ref!));
      }
      return checkouts.length + overdue.length;
    },
  };
}
