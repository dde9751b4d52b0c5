import Stripe from 'stripe';
import type { Charge, ChargeRequest } from '../charge.ts';
import { PaymentsError } from '../errors.ts';
import { toStripe } from './amounts.ts';
import { PREVIEW_VERSION } from './client.ts';

/** Refunds payments and takes machine payments. */
export function createSinglePayments(stripe: Stripe, networkId: string | undefined) {
  return {
    async refund(paymentRef: string, amountMinor: number | undefined, key: string): Promise<void> {
      const amount = amountMinor === undefined ? undefined : await amountOf(paymentRef, amountMinor);
      try {
        const { status } = await stripe.refunds.create(
          { payment_intent: paymentRef, ...(amount !== undefined && { amount }) },
          { idempotencyKey: `refund_${key}` },
        );
        if (status === 'failed' || status === 'canceled') {
          throw new PaymentsError('declined', `the refund of ${paymentRef} is ${status}`);
        }
      } catch (error) {
        // The amount exceeds what remains: Stripe has no code for it.
        if (error instanceof Stripe.errors.StripeInvalidRequestError && error.param === 'amount') {
          throw new PaymentsError('declined', `the refund exceeds the remaining amount of ${paymentRef}`);
        }
        throw error;
      }
    },

    /** The amount is in Stripe's units already, because the payer and Stripe agree on it. */
    async charge(request: ChargeRequest): Promise<Charge> {
      const amount = Number(request.amount);
      if (networkId === undefined) throw new PaymentsError('invalid', 'machine payments are not configured');
      if (!Number.isSafeInteger(amount))
        throw new PaymentsError('invalid', `${request.amount} is not an amount`);
      const { id, status, created } = await create(request, amount);
      if (status !== 'succeeded') throw new PaymentsError('declined', `the payment ${id} is ${status}`);
      return { paymentRef: id, paidAt: new Date(created * 1000) };
    },
  };

  async function amountOf(paymentRef: string, amountMinor: number): Promise<number> {
    const { currency } = await stripe.paymentIntents.retrieve(paymentRef);
    return toStripe(amountMinor, currency.toUpperCase());
  }

  async function create(request: ChargeRequest, amount: number): Promise<Stripe.PaymentIntent> {
    const params: Stripe.PaymentIntentCreateParams & { shared_payment_granted_token: string } = {
      amount,
      currency: request.currency.toLowerCase(),
      confirm: true,
      // A program cannot be redirected to a page.
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      description: request.description,
      shared_payment_granted_token: request.token,
    };
    try {
      return await stripe.paymentIntents.create(params, {
        apiVersion: PREVIEW_VERSION,
        idempotencyKey: `charge_${request.key}`,
      });
    } catch (error) {
      // An invalid token or an exceeded limit is the payer's error, not the service's.
      if (error instanceof Stripe.errors.StripeInvalidRequestError) {
        throw new PaymentsError('declined', `Stripe does not accept the token: ${error.code ?? error.type}`);
      }
      throw error;
    }
  }
}
