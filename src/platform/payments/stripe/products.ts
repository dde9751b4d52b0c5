import type Stripe from 'stripe';
import type { Product } from '../order.ts';
import { toStripe } from './amounts.ts';
import { isMissing } from './errors.ts';

/** What we sell has the same name at Stripe, behind this. */
const PREFIX = 'latchkey_';

/** @returns undefined for a product that is not ours */
export function ourProductId(stripeId: string | null): string | undefined {
  return stripeId?.startsWith(PREFIX) ? stripeId.slice(PREFIX.length) : undefined;
}

/** @returns undefined for what is paid once */
export function intervalOf({ recurring }: Product): 'month' | 'year' | undefined {
  if (recurring === null) return undefined;
  return recurring === 'monthly' ? 'month' : 'year';
}

/**
 * Makes sure that Stripe knows what we sell. Prices are made with each sale, because ours may change at any time; the product
 * stays the same, so that a subscription can be moved from one to another and Stripe's reports tell them apart.
 */
export function createProducts(stripe: Stripe) {
  /** What Stripe was told by this process, by name. */
  const told = new Map<string, string>();

  async function tell(id: string, name: string): Promise<void> {
    try {
      await stripe.products.update(id, { name, active: true });
    } catch (error) {
      if (!isMissing(error)) throw error;
      try {
        await stripe.products.create({ id, name });
      } catch (error) {
        // Another process was quicker.
        if ((error as { code?: string }).code !== 'resource_already_exists') throw error;
      }
    }
  }

  return {
    /** The price of a product, in the form in which sessions and subscriptions take it. */
    async priceOf(product: Product) {
      const id = `${PREFIX}${product.productId}`;
      if (told.get(id) !== product.name) {
        await tell(id, product.name);
        told.set(id, product.name);
      }
      const interval = intervalOf(product);
      return {
        currency: product.currency.toLowerCase(),
        product: id,
        unit_amount: toStripe(product.amountMinor, product.currency),
        ...(interval && { recurring: { interval } }),
      };
    },
  };
}

export type Products = ReturnType<typeof createProducts>;
