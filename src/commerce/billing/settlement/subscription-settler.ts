import type { Plans } from '../../../accounts/plans/plans.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { PaymentProcessor } from '../../../platform/payments/index.ts';
import { updateSubscription } from '../subscription-store.ts';
import { assertCurrency, Mismatch } from './mismatch.ts';
import type { Purchases } from './purchases.ts';
import { settlementActor, type FactOf, type Settler } from './settler.ts';

interface Dependencies {
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly plans: Plans;
  readonly purchases: Purchases;
  readonly clock: Clock;
}

export function createSubscriptionSettler(deps: Dependencies): Settler<FactOf<'subscription'>> {
  const { payments, plans, purchases, clock } = deps;

  return async (trx, fact, address, affected) => {
    const checkout = await purchases.checkoutOf(trx, fact.reference);
    assertCurrency(checkout, fact.currency);
    const plan = await plans.find(trx, fact.productId);
    if (plan?.kind !== 'subscription') throw new Mismatch(`there is no plan ${fact.productId}`);
    const actor = settlementActor(payments.processor, checkout, address);
    const row = await purchases.subscriptionOf(trx, checkout, fact.subscriptionRef);
    // An ended subscription stays ended, and a fact older than the last one is out of date.
    if (row.state === 'ended' || (row.as_of && row.as_of > fact.asOf)) return;
    await updateSubscription(trx, row.subscription_id, {
      plan_id: plan.plan_id,
      // A paid subscription no longer waits for its first payment, even if an older event says so.
      ...(!(row.paid && fact.state === 'pending') && {
        state: fact.state === 'unpaid' ? 'pending' : fact.state,
      }),
      period_end: fact.periodEnd,
      cancel_at_period_end: fact.cancelAtPeriodEnd,
      as_of: fact.asOf,
      ...(row.change_asked_at && fact.asOf >= row.change_asked_at && { change_asked_at: null }),
      ...(fact.state === 'ended' && { ended_at: clock.now(), end_wanted: false }),
    });
    affected.add(actor, { hasPlan: true, customerRef: fact.customerRef });
  };
}
