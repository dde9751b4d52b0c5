import type { PaymentProcessor } from './processor.ts';
import type { StripeSettings } from './stripe/settings.ts';
import { openTestProcessor, type CheckoutPage, type TestProcessorOptions } from './test-processor/index.ts';

export type { Charge, ChargeRequest } from './charge.ts';
export { PaymentsError, PaymentsUnavailableError } from './errors.ts';
export type { OpenedCheckout, Order, Product } from './order.ts';
export type { PaymentEvent } from './payment-event.ts';
export type { DisputeFact, PaymentFact } from './payment-fact.ts';
export type { PaymentProcessor } from './processor.ts';
export type { StripeSettings } from './stripe/settings.ts';
export type { CheckoutPage } from './test-processor/index.ts';

/**
 * Opens the payment processor: Stripe if its settings are given, else the embedded test processor. Sends no request.
 * @returns the processor, and the payment page if this service hosts it
 */
export async function openPayments(
  options: TestProcessorOptions & { readonly stripe: StripeSettings | undefined },
): Promise<{ readonly payments: PaymentProcessor; readonly checkoutPage: CheckoutPage | undefined }> {
  const { stripe, clock } = options;
  if (stripe) {
    // Loaded only when needed because the package is large.
    const { openStripe } = await import('./stripe/index.ts');
    return { payments: openStripe(stripe, { clock }), checkoutPage: undefined };
  }
  const processor = openTestProcessor(options);
  return { payments: processor, checkoutPage: processor.page };
}
