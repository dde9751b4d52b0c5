import type { Plans } from '../../../accounts/plans/plans.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { PaymentFact, PaymentProcessor } from '../../../platform/payments/index.ts';
import { createCheckoutSettler } from './checkout-settler.ts';
import type { Entitlements } from './entitlements.ts';
import { createInvoiceSettler } from './invoice-settler.ts';
import { createPurchases } from './purchases.ts';
import { createReversalSettlers } from './reversal-settler.ts';
import type { FactOf, Settler } from './settler.ts';
import { createSubscriptionSettler } from './subscription-settler.ts';

interface Dependencies {
  readonly payments: Pick<PaymentProcessor, 'processor'>;
  readonly plans: Plans;
  readonly entitlements: Entitlements;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Settles facts of every kind. */
export function createFactSettler(deps: Dependencies): Settler<PaymentFact> {
  const known = { ...deps, purchases: createPurchases(deps) };
  const settlers: { readonly [Kind in PaymentFact['kind']]: Settler<FactOf<Kind>> } = {
    checkout: createCheckoutSettler(known),
    invoice: createInvoiceSettler(known),
    subscription: createSubscriptionSettler(known),
    ...createReversalSettlers(known),
  };
  return (trx, fact, address, affected) =>
    (settlers[fact.kind] as Settler<PaymentFact>)(trx, fact, address, affected);
}
