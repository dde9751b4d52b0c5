import type { Clock } from '../../clock.ts';
import type { PaymentProcessor } from '../processor.ts';
import { amountFault } from './amounts.ts';
import { createCheckouts } from './checkout.ts';
import { createClient } from './client.ts';
import { callStripe } from './errors.ts';
import { createLookUps } from './lookups.ts';
import { createWebhookEvents } from './webhook-events.ts';
import { createProducts } from './products.ts';
import type { StripeSettings } from './settings.ts';
import { createSinglePayments } from './single-payments.ts';
import { createSubscriptions } from './subscriptions.ts';

export type { StripeSettings } from './settings.ts';

/**
 * Payments by Stripe. Sends no request yet, so the service starts even if Stripe is unavailable.
 * @param options.clock for the age of events
 */
export function openStripe(settings: StripeSettings, { clock }: { readonly clock: Clock }): PaymentProcessor {
  const stripe = createClient(settings);
  const products = createProducts(stripe);
  const checkouts = createCheckouts(stripe, products, clock);
  const lookUps = createLookUps(stripe, clock);
  const events = createWebhookEvents(stripe, settings, lookUps, clock);
  const subscriptions = createSubscriptions(stripe, products);
  const single = createSinglePayments(stripe, settings.networkId);
  return {
    processor: 'stripe',
    amountFault,
    openCheckout: (order) => callStripe(() => checkouts.open(order)),
    readEvent: (body, headers) => callStripe(() => events.read(body, headers)),
    lookUpCheckout: (sessionRef) => callStripe(() => lookUps.checkout(sessionRef)),
    lookUpSubscription: (subscriptionRef) => callStripe(() => lookUps.subscription(subscriptionRef)),
    changeSubscription: (subscriptionRef, product) =>
      callStripe(() => subscriptions.change(subscriptionRef, product)),
    setCancellation: (subscriptionRef, atPeriodEnd) =>
      callStripe(() => subscriptions.cancelAtPeriodEnd(subscriptionRef, atPeriodEnd)),
    endSubscription: (subscriptionRef, credit) =>
      callStripe(() => subscriptions.end(subscriptionRef, credit)),
    refund: (paymentRef, amountMinor, key) => callStripe(() => single.refund(paymentRef, amountMinor, key)),
    charge: (request) => callStripe(() => single.charge(request)),
    // Stripe keeps no rows in this service.
    clearExpired: async () => 0,
    setAside: async () => 0,
    // Stripe renews subscriptions itself and sends events.
    start: async () => ({ stop: async () => {} }),
  };
}
