import type Stripe from 'stripe';
import type { Product } from '../order.ts';
import { toStripe } from './amounts.ts';
import { isMissing } from './errors.ts';

/** Precedes our product id in the id at Stripe. */
const PREFIX = 'latchkey_';

/** @returns undefined for a product that is not ours */
export function ourProductId(stripeId: string | null): string | undefined {
  return stripeId?.startsWith(PREFIX) ? stripeId.slice(PREFIX.length) : undefined;
}

/** @returns undefined for a product that is paid once */
export function intervalOf({ recurring }: Product): 'month' | 'year' | undefined {
  if (recurring === null) return undefined;
  return recurring === 'monthly' ? 'month' : 'year';
}

/**
 * Creates and updates our products at Stripe. Each sale creates its price, because ours may change at any time. The
 * product stays the same, so that Stripe's reports distinguish our products and a subscription can move from one to
 * another.
 */
export function createProducts(stripe: Stripe) {
  /** The names that this process has set at Stripe, by id. */
  const namesAtStripe = new Map<string, string>();

  async function upsert(id: string, name: string): Promise<void> {
    try {
      await stripe.products.update(id, { name, active: true });
    } catch (error) {
      if (!isMissing(error)) throw error;
      try {
        await stripe.products.create({ id, name });
      } catch (error) {
        // Another process created it first.
        if ((error as { code?: string }).code !== 'resource_already_exists') throw error;
      }
    }
  }

  return {
    /** The price of a product, as a parameter of sessions and subscriptions. */
    async priceOf(product: Product) {
      const id = `${PREFIX}${product.productId}`;
      if (namesAtStripe.get(id) !== product.name) {
        await upsert(id, product.name);
        namesAtStripe.set(id, product.name);
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
