import type Stripe from 'stripe';
import type { Clock } from '../../clock.ts';
import type { PaymentFact } from '../payment-fact.ts';
import * as facts from './facts.ts';

/** What Stripe omits from a session unless expanded: the receipt, and the payment of the invoice. */
const SESSION_EXPANSIONS = ['payment_intent.latest_charge', 'invoice.payments'];

/** Looks up the current facts at Stripe. */
export function createLookUps(stripe: Stripe, clock: Clock) {
  /** The time of a response by Stripe's clock. */
  function respondedAt({ lastResponse }: Stripe.Response<object>): Date {
    const date = new Date(lastResponse.headers['date'] ?? '');
    return Number.isNaN(date.getTime()) ? clock.now() : date;
  }

  function session(sessionRef: string): Promise<Stripe.Checkout.Session> {
    return stripe.checkout.sessions.retrieve(sessionRef, { expand: SESSION_EXPANSIONS });
  }

  /** The refunds and the dispute of a payment. */
  async function ofPayment(paymentRef: string): Promise<PaymentFact[]> {
    const { latest_charge: charge } = await stripe.paymentIntents.retrieve(paymentRef, {
      expand: ['latest_charge'],
    });
    if (charge === null || typeof charge === 'string') return [];
    const refund = charge.amount_refunded > 0 ? facts.refundFact(charge) : undefined;
    return [refund, charge.disputed ? await disputeOf(paymentRef) : undefined].filter(isFact);
  }

  async function disputeOf(paymentRef: string): Promise<PaymentFact | undefined> {
    const disputes = await stripe.disputes.list({ payment_intent: paymentRef, limit: 1 });
    const [latest] = disputes.data;
    return latest && facts.disputeFact(latest, respondedAt(disputes));
  }

  async function subscription(subscriptionRef: string): Promise<PaymentFact[]> {
    const found = await stripe.subscriptions.retrieve(subscriptionRef, {
      expand: ['latest_invoice.payments'],
    });
    const fact = facts.subscriptionFact(found, respondedAt(found));
    if (!fact) return [];
    const invoice = typeof found.latest_invoice === 'string' ? null : found.latest_invoice;
    const state = invoice && facts.invoiceState(invoice);
    const invoiceFact =
      invoice && state
        ? facts.invoiceFact(invoice, state, invoice.payments?.data ?? [], fact.reference)
        : undefined;
    const paymentFacts = invoiceFact?.paymentRef ? await ofPayment(invoiceFact.paymentRef) : [];
    return [fact, invoiceFact, ...paymentFacts].filter(isFact);
  }

  return {
    session,
    subscription,
    async checkout(sessionRef: string): Promise<PaymentFact[]> {
      const found = await session(sessionRef);
      const fact = facts.checkoutFact(found);
      if (!fact) return [];
      if (fact.subscriptionRef !== null) return [fact, ...(await subscription(fact.subscriptionRef))];
      return [fact, ...(fact.state === 'paid' && fact.paymentRef ? await ofPayment(fact.paymentRef) : [])];
    },
  };
}

export type LookUps = ReturnType<typeof createLookUps>;

function isFact(fact: PaymentFact | undefined): fact is PaymentFact {
  return fact !== undefined;
}
