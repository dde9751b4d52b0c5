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
 * Stripe counts time in seconds, and a subscription is created and becomes active within the same second. Within a
 * second, an end is later than a change, and a change later than the creation.
 */
const LATER_MS: Readonly<Record<string, number>> = {
  'customer.subscription.created': 0,
  'customer.subscription.updated': 500,
  'customer.subscription.deleted': 999,
};

/** Whether a signature's time is in the future: Stripe's package rejects only old signatures. */
function isAhead(signature: string, now: number): boolean {
  const signedAt = Number(/(?:^|,)\s*t=(\d+)/.exec(signature)?.[1]);
  return !(signedAt - Math.floor(now / 1000) <= TOLERANCE_SECONDS);
}

/**
 * Reads events of Stripe. Requests from Stripe what an event's object lacks:
 * - a paid session contains no receipt, and a session of a subscription no payment;
 * - an invoice contains no payments, because it may have several, which are listed separately;
 * - an old invoice contains no copy of its subscription's metadata, where our reference is;
 * - an event has the API version of the webhook endpoint, in which invoices and subscriptions may look different.
 */
export function createWebhookEvents(
  stripe: Stripe,
  settings: StripeSettings,
  lookUps: LookUps,
  clock: Clock,
) {
  const live = /^(sk|rk)_live_/.test(settings.secretKey);

  /** @throws PaymentsError `signature`; `invalid` if it is signed but cannot be read */
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
        // The package's parser is less strict.
        parseStrictJson(body);
        return event;
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) continue;
        throw new PaymentsError('invalid', 'a signed event of Stripe cannot be read', { cause: error });
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
    received: Stripe.Invoice,
    state: InvoiceFact['state'],
    complete: boolean,
  ): Promise<PaymentFact | undefined> {
    const invoice = complete ? received : await stripe.invoices.retrieve(received.id);
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
        const received = event.data.object;
        const subscription = complete ? received : await stripe.subscriptions.retrieve(received.id);
        return facts.subscriptionFact(subscription, asOf);
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
        throw new PaymentsError('account', 'an event is about another Stripe account');
      }
      if (event.livemode !== live) {
        throw new PaymentsError('account', `an event is about ${live ? 'test' : 'live'} payments`);
      }
      const fact = await factOf(event);
      return fact && { eventId: event.id, type: event.type, facts: [fact] };
    },
  };
}
