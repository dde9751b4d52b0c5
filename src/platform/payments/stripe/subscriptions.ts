import type Stripe from 'stripe';
import { PaymentsError } from '../errors.ts';
import type { Product } from '../order.ts';
import { idOf } from './facts.ts';
import { isMissing } from './errors.ts';
import { intervalOf, type Products } from './products.ts';

const ENDED = new Set<string>(['canceled', 'incomplete_expired']);

/** Changes and ends subscriptions. */
export function createSubscriptions(stripe: Stripe, products: Products) {
  return {
    async change(subscriptionRef: string, product: Product): Promise<void> {
      const interval = intervalOf(product);
      if (!interval) throw new PaymentsError('invalid', `${product.productId} is paid once`);
      const subscription = await stripe.subscriptions.retrieve(subscriptionRef);
      const [item] = subscription.items.data;
      if (!item) throw new PaymentsError('invalid', `the subscription ${subscriptionRef} has no items`);
      const price = { ...(await products.priceOf(product)), recurring: { interval } };
      // An update without a change would still create a price and an invoice.
      if (isPrice(item.price, price)) return;
      await stripe.subscriptions.update(subscriptionRef, {
        items: [{ id: item.id, price_data: price, quantity: 1 }],
        metadata: { product_id: product.productId },
        proration_behavior: 'always_invoice',
        // The subscription changes only if the payment succeeds.
        payment_behavior: 'error_if_incomplete',
      });
    },

    async cancelAtPeriodEnd(subscriptionRef: string, atPeriodEnd: boolean): Promise<void> {
      await stripe.subscriptions.update(subscriptionRef, { cancel_at_period_end: atPeriodEnd });
    },

    async end(subscriptionRef: string, credit: boolean): Promise<void> {
      try {
        await stripe.subscriptions.cancel(subscriptionRef, { prorate: credit, invoice_now: credit });
      } catch (error) {
        // Stripe reports an ended subscription as missing, too.
        if (!isMissing(error)) throw error;
        const { status } = await stripe.subscriptions.retrieve(subscriptionRef);
        if (!ENDED.has(status)) throw error;
      }
    },
  };
}

function isPrice(
  price: Stripe.Price,
  wanted: {
    readonly currency: string;
    readonly product: string;
    readonly unit_amount: number;
    readonly recurring: { readonly interval: string };
  },
): boolean {
  return (
    idOf(price.product) === wanted.product &&
    price.currency === wanted.currency &&
    price.unit_amount === wanted.unit_amount &&
    price.recurring?.interval === wanted.recurring.interval &&
    price.recurring.interval_count === 1
  );
}
