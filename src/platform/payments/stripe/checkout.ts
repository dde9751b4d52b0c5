import Stripe from 'stripe';
import type { Clock } from '../../clock.ts';
import { PaymentsError } from '../errors.ts';
import type { OpenedCheckout, Order } from '../order.ts';
import { isMissing } from './errors.ts';
import type { Products } from './products.ts';

const MINUTE = 60;
/** Stripe requires 30 minutes to 24 hours by its own clock. */
const SHORTEST = 31 * MINUTE;
const LONGEST = 24 * 60 * MINUTE - MINUTE;
const DAY = 24 * 60 * MINUTE;
const PAGE = 100;

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Opens sessions of Stripe Checkout. */
export function createCheckouts(stripe: Stripe, products: Products, clock: Clock) {
  async function create(order: Order, attempt = ''): Promise<Stripe.Checkout.Session> {
    const { reference, product, customer } = order;
    const now = seconds(clock.now());
    const expiresAt = Math.min(Math.max(seconds(order.expiresAt), now + SHORTEST), now + LONGEST);
    const metadata = { reference, product_id: product.productId, customer_reference: customer.reference };
    const once: Stripe.Checkout.SessionCreateParams = {
      mode: 'payment',
      payment_intent_data: { metadata },
      ...(customer.customerRef === null && { customer_creation: 'always' }),
    };
    return stripe.checkout.sessions.create(
      {
        ...(product.recurring === null ? once : { mode: 'subscription', subscription_data: { metadata } }),
        client_reference_id: reference,
        metadata,
        line_items: [{ quantity: 1, price_data: await products.priceOf(product) }],
        ...(customer.customerRef === null
          ? { customer_email: customer.email }
          : { customer: customer.customerRef }),
        success_url: order.successUrl,
        cancel_url: order.cancelUrl,
        expires_at: expiresAt,
        // The payment must have the amount and currency of the order: both are compared.
        adaptive_pricing: { enabled: false },
      },
      { idempotencyKey: `checkout_${reference}${attempt}` },
    );
  }

  /** Falls back to a new customer if Stripe does not know this one: it was deleted, or belongs to another account. */
  async function createForAnyCustomer(order: Order): Promise<Stripe.Checkout.Session> {
    try {
      return await create(order);
    } catch (error) {
      if (!isMissing(error) || (error as { param?: string }).param !== 'customer') throw error;
      return create({ ...order, customer: { ...order.customer, customerRef: null } }, '_anew');
    }
  }

  /** The session that was opened for an order. The last day is enough, because no session is open for longer. */
  async function find(reference: string): Promise<Stripe.Checkout.Session | undefined> {
    const created = { gte: seconds(clock.now()) - DAY };
    for await (const session of stripe.checkout.sessions.list({ created, limit: PAGE })) {
      if (session.metadata?.['reference'] === reference) return session;
    }
    return undefined;
  }

  return {
    /**
     * Opens a session for an order. Stripe returns the same session for the same request. A later call may need another
     * expiry, which Stripe rejects as a different request with the same key; then the first session is looked up.
     */
    async open(order: Order): Promise<OpenedCheckout> {
      const session = await createForAnyCustomer(order).catch(async (error: unknown) => {
        if (!(error instanceof Stripe.errors.StripeIdempotencyError)) throw error;
        const found = await find(order.reference);
        if (!found) throw error;
        return found;
      });
      if (!session.url) throw new PaymentsError('invalid', `the session ${session.id} is no longer open`);
      return { sessionRef: session.id, url: session.url };
    },
  };
}
