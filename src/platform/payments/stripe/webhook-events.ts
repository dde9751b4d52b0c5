import type { IncomingHttpHeaders } from 'node:http';
import Stripe from 'stripe';
import type { Clock } from '../../clock.ts';
import { parseStrictJson } from '../../strict-json.ts';
import { PaymentsError } from '../errors.ts';
import type { PaymentEvent } from '../payment-event.ts';
import type { InvoiceFact, PaymentFact } from '../payment-fact.ts';
import { isOurVersion } from './client.ts';
import * as facts from './facts.ts';
import type { LookUps } from './lookups.ts';
import type { StripeSettings } from './settings.ts';

const TOLERANCE_SECONDS = 300;

/**
 * Stripe counts time in seconds, and a subscription begins and becomes active in the same one. Within a second one that ended
 * is later than one that changed, and that later than one that began.
 */
const LATER_MS: Readonly<Record<string, number>> = {
  'customer.subscription.created': 0,
  'customer.subscription.updated': 500,
  'customer.subscription.deleted': 999,
};

/** Whether a signature is from a time that has not come yet: Stripe's package asks only how old it is. */
function isAhead(signature: string, now: number): boolean {
  const signedAt = Number(/(?:^|,)\s*t=(\d+)/.exec(signature)?.[1]);
  return !(signedAt - Math.floor(now / 1000) <= TOLERANCE_SECONDS);
}

/**
 * Reads events of Stripe. What they tell is taken from the event; where its object lacks something, Stripe is asked for it:
 * - a paid session has no receipt, and one of a subscription no payment;
 * - an invoice has no payment: it may have several, which are listed on their own;
 * - an invoice has a copy of the metadata of its subscription, where our reference is, only if it was made since there are such
 *   copies;
 * - invoices and subscriptions look different in other versions of the API, and the webhook endpoint decides in which one
 *   events are written, not we.
 */
export function createWebhookEvents(
  stripe: Stripe,
  settings: StripeSettings,
  lookUps: LookUps,
  clock: Clock,
) {
  const live = /^(sk|rk)_live_/.test(settings.secretKey);

  /** @throws PaymentsError `signature`; `invalid` when it is signed, and cannot be read */
  function verified(body: Buffer, headers: IncomingHttpHeaders): Stripe.Event {
    const signature = [headers['stripe-signature'] ?? ''].flat().join();
    const now = clock.now().getTime();
    for (const secret of settings.webhookSecrets) {
      try {
        const event = stripe.webhooks.constructEvent(
          body,
          signature,
          secret,
          TOLERANCE_SECONDS,
          undefined,
          now,
        );
        if (isAhead(signature, now)) break;
        // The package parses it less strictly.
        parseStrictJson(body);
        return event;
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) continue;
        throw new PaymentsError('invalid', 'an event of Stripe is not an event', { cause: error });
      }
    }
    throw new PaymentsError('signature', 'an event was not signed by Stripe within the last 5 minutes');
  }

  async function ofSession(session: Stripe.Checkout.Session): Promise<PaymentFact | undefined> {
    if (!facts.isPaid(session) || session.metadata?.['reference'] === undefined) {
      return facts.checkoutFact(session);
    }
    return facts.checkoutFact(await lookUps.session(session.id));
  }

  async function ofInvoice(
    told: Stripe.Invoice,
    state: InvoiceFact['state'],
    complete: boolean,
  ): Promise<PaymentFact | undefined> {
    const invoice = complete ? told : await stripe.invoices.retrieve(told.id);
    const reference = await referenceOf(invoice);
    if (reference === undefined) return undefined;
    const { data: payments } =
      facts.amountOf(invoice, state) > 0
        ? await stripe.invoicePayments.list({ invoice: invoice.id })
        : { data: [] };
    return facts.invoiceFact(invoice, state, payments, reference);
  }

  async function referenceOf(invoice: Stripe.Invoice): Promise<string | undefined> {
    const subscriptionRef = facts.subscriptionOf(invoice);
    if (subscriptionRef === null) return undefined;
    const copied = invoice.parent?.subscription_details?.metadata;
    const metadata = copied ?? (await stripe.subscriptions.retrieve(subscriptionRef)).metadata;
    return metadata['reference'];
  }

  async function factOf(event: Stripe.Event): Promise<PaymentFact | undefined> {
    const complete = isOurVersion(event.api_version);
    const asOf = new Date(event.created * 1000 + (LATER_MS[event.type] ?? 0));
    switch (event.type) {
      case 'checkout.session.completed':
      case 'checkout.session.async_payment_succeeded':
      case 'checkout.session.expired':
        return ofSession(event.data.object);
      case 'checkout.session.async_payment_failed':
        return facts.checkoutFact(event.data.object, 'failed');
      case 'invoice.paid':
        return ofInvoice(event.data.object, 'paid', complete);
      case 'invoice.payment_failed':
        return ofInvoice(event.data.object, 'failed', complete);
      case 'customer.subscription.created':
      case 'customer.subscription.updated':
      case 'customer.subscription.deleted': {
        const told = event.data.object;
        return facts.subscriptionFact(complete ? told : await stripe.subscriptions.retrieve(told.id), asOf);
      }
      case 'charge.refunded':
        return facts.refundFact(event.data.object);
      case 'charge.dispute.created':
      case 'charge.dispute.funds_withdrawn':
      case 'charge.dispute.closed':
        return facts.disputeFact(event.data.object, asOf);
      case 'charge.dispute.funds_reinstated':
        return facts.disputeFact(event.data.object, asOf, true);
      default:
        return undefined;
    }
  }

  return {
    async read(body: Buffer, headers: IncomingHttpHeaders): Promise<PaymentEvent | undefined> {
      const event = verified(body, headers);
      if (event.account !== undefined) {
        throw new PaymentsError('account', 'an event is about another account of Stripe');
      }
      if (event.livemode !== live) {
        throw new PaymentsError('account', `an event is about ${live ? 'test' : 'real'} money`);
      }
      const fact = await factOf(event);
      return fact && { eventId: event.id, type: event.type, facts: [fact] };
    },
  };
}
