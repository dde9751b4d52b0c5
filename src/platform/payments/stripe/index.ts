import type { Clock } from '../../clock.ts';
import type { PaymentProcessor } from '../processor.ts';
import { amountFault } from './amounts.ts';
import { createCheckouts } from './checkout.ts';
import { createClient } from './client.ts';
import { ask } from './errors.ts';
import { createLookUps } from './lookups.ts';
import { createWebhookEvents } from './webhook-events.ts';
import { createProducts } from './products.ts';
import type { StripeSettings } from './settings.ts';
import { createSinglePayments } from './single-payments.ts';
import { createSubscriptions } from './subscriptions.ts';

export type { StripeSettings } from './settings.ts';

/**
 * Payments by Stripe. Stripe is not asked for anything yet: the service starts without it.
 * @param options.clock how old an event is
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
    openCheckout: (order) => ask(() => checkouts.open(order)),
    readEvent: (body, headers) => ask(() => events.read(body, headers)),
    lookUpCheckout: (sessionRef) => ask(() => lookUps.checkout(sessionRef)),
    lookUpSubscription: (subscriptionRef) => ask(() => lookUps.subscription(subscriptionRef)),
    changeSubscription: (subscriptionRef, product) =>
      ask(() => subscriptions.change(subscriptionRef, product)),
    setCancellation: (subscriptionRef, atPeriodEnd) =>
      ask(() => subscriptions.cancelAtPeriodEnd(subscriptionRef, atPeriodEnd)),
    endSubscription: (subscriptionRef, credit) => ask(() => subscriptions.end(subscriptionRef, credit)),
    refund: (paymentRef, amountMinor, key) => ask(() => single.refund(paymentRef, amountMinor, key)),
    charge: (request) => ask(() => single.charge(request)),
    // Stripe keeps its things itself.
    clearExpired: async () => 0,
    setAside: async () => 0,
    // Stripe does what is due by itself, and sends events of it.
    start: async () => ({ stop: async () => {} }),
  };
}
