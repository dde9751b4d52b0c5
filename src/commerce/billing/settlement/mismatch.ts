import type { CheckoutRow } from '../checkout-store.ts';

/** A fact that does not fit the purchase it refers to: nothing is granted for it. */
export class Mismatch extends Error {}

/** @throws Mismatch unless exactly the amount of the checkout was paid */
export function assertAmount(checkout: CheckoutRow, amountMinor: number, currency: string): void {
  if (checkout.amount_minor === amountMinor && checkout.currency === currency) return;
  throw new Mismatch(
    `${checkout.checkout_id} is about ${checkout.amount_minor} ${checkout.currency}, not ${amountMinor} ${currency}`,
  );
}

/** @throws Mismatch */
export function assertCurrency({ checkout_id, currency: expected }: CheckoutRow, currency: string): void {
  if (currency !== expected) throw new Mismatch(`${checkout_id} is in ${expected}, not ${currency}`);
}
