import type Stripe from 'stripe';
import type { Clock } from '../../clock.ts';
import type { PaymentFact } from '../payment-fact.ts';
import * as facts from './facts.ts';

/** What Stripe leaves out of a session unless it is asked: the receipt, and the payment behind the invoice. */
const WHOLE_SESSION = ['payment_intent.latest_charge', 'invoice.payments'];

/** Asks Stripe what has become of something. */
export function createLookUps(stripe: Stripe, clock: Clock) {
  /** When Stripe gave an answer, by its own clock. */
  function answeredAt({ lastResponse }: Stripe.Response<object>): Date {
    const date = new Date(lastResponse.headers['date'] ?? '');
    return Number.isNaN(date.getTime()) ? clock.now() : date;
  }

  function session(sessionRef: string): Promise<Stripe.Checkout.Session> {
    return stripe.checkout.sessions.retrieve(sessionRef, { expand: WHOLE_SESSION });
  }

  /** What was given back of a payment, and what the bank has taken back. */
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
    return latest && facts.disputeFact(latest, answeredAt(disputes));
  }

  async function subscription(subscriptionRef: string): Promise<PaymentFact[]> {
    const found = await stripe.subscriptions.retrieve(subscriptionRef, {
      expand: ['latest_invoice.payments'],
    });
    const fact = facts.subscriptionFact(found, answeredAt(found));
    if (!fact) return [];
    const invoice = typeof found.latest_invoice === 'string' ? null : found.latest_invoice;
    const state = invoice && facts.invoiceState(invoice);
    const bill =
      invoice && state
        ? facts.invoiceFact(invoice, state, invoice.payments?.data ?? [], fact.reference)
        : undefined;
    const ofBill = bill?.paymentRef ? await ofPayment(bill.paymentRef) : [];
    return [fact, bill, ...ofBill].filter(isFact);
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
