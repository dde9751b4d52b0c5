import Stripe from 'stripe';
import { API_VERSION } from '../../../src/platform/payments/stripe/client.ts';
import { openStripe, type StripeSettings } from '../../../src/platform/payments/stripe/index.ts';
import { toStripe } from '../../../src/platform/payments/stripe/amounts.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { TestClock } from '../../support/clock.ts';
import type { PaymentsHarness, SignedEvent } from './payments.ts';
import { startStripeMock } from './stripe-mock.ts';
import { DECLINED_TOKEN } from './stripe-routes.ts';
import { startStripeServer, type StripeServer } from './stripe-server.ts';
import type { Thing } from './stripe-world.ts';

const SECRET = 'whsec_example';
const { webhooks } = new Stripe('sk_test_example');

/** Additional functions for tests of Stripe. */
export interface StripeHarness extends PaymentsHarness {
  readonly server: StripeServer;
  readonly settings: StripeSettings;
  /** An event with Stripe's signature. */
  event(type: string, object: Thing, changes?: Thing): SignedEvent;
}

/** Signs a body like Stripe. */
export function sign(payload: string, clock: Clock, secret = SECRET): SignedEvent {
  const timestamp = Math.floor(clock.now().getTime() / 1000);
  const signature = webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return { body: Buffer.from(payload), headers: { 'stripe-signature': signature } };
}

/** @returns undefined if Stripe's mock is unavailable */
export async function startStripe(): Promise<StripeHarness | undefined> {
  const mock = await startStripeMock();
  if (mock === undefined) return undefined;
  const clock = new TestClock();
  return { ...harnessOf(await startStripeServer(mock, clock), clock), clock };
}

/** The same without Stripe's mock, see startStripeServer. @param clock that of the processes which use it */
export async function startStripeAlone(clock: Clock): Promise<Omit<StripeHarness, 'clock'>> {
  return harnessOf(await startStripeServer(undefined, clock), clock);
}

function harnessOf(server: StripeServer, clock: Clock): Omit<StripeHarness, 'clock'> {
  const { world } = server;
  const settings: StripeSettings = {
    secretKey: 'sk_test_example',
    webhookSecrets: ['whsec_older', SECRET],
    apiUrl: server.url,
    networkId: 'profile_test_example',
  };

  function event(type: string, object: Thing, changes: Thing = {}): SignedEvent {
    const told = {
      id: world.newId('evt'),
      object: 'event',
      api_version: API_VERSION,
      created: world.now,
      data: { object: world.show(object) },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
      ...changes,
    };
    return sign(JSON.stringify(told, undefined, 2), clock);
  }

  async function paid(sessionRef: string): Promise<SignedEvent[]> {
    const session = world.things.get(sessionRef)!;
    session['customer'] ??= world.newId('cus');
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null });
    if (session['mode'] === 'payment') {
      const payment = await world.payment(session['amount_total'], session['currency']);
      session['payment_intent'] = payment['id'];
      return [event('checkout.session.completed', session)];
    }
    const subscription = await world.subscription(session);
    const begun = event('customer.subscription.created', { ...subscription, status: 'incomplete' });
    const invoice = await world.invoice(subscription, 'subscription_create');
    Object.assign(session, { subscription: subscription['id'], invoice: invoice['id'] });
    return [
      begun,
      event('customer.subscription.updated', subscription),
      event('invoice.paid', invoice),
      event('checkout.session.completed', session),
    ];
  }

  async function nextPeriod(subscriptionRef: string, isPaid: boolean): Promise<SignedEvent[]> {
    const subscription = world.things.get(subscriptionRef)!;
    world.nextPeriod(subscription);
    const invoice = await world.invoice(subscription, 'subscription_cycle', isPaid);
    subscription['status'] = isPaid ? 'active' : 'past_due';
    return [
      event(isPaid ? 'invoice.paid' : 'invoice.payment_failed', invoice),
      event('customer.subscription.updated', subscription),
    ];
  }

  async function disputed(paymentRef: string, status: string, ...types: string[]): Promise<SignedEvent[]> {
    const charge = world.chargeOf(paymentRef);
    charge['disputed'] = true;
    const id = `dp_${paymentRef}`;
    const { amount, currency } = charge;
    const dispute = await world.make('dp', 'disputes', {
      ...world.things.get(id),
      id,
      amount,
      charge: charge['id'],
      currency,
      payment_intent: paymentRef,
      status,
    });
    return types.map((type) => event(type, dispute));
  }

  return {
    server,
    settings,
    event,
    open: async () => openStripe(settings, { clock }),
    openUnreachable: async () => openStripe({ ...settings, apiUrl: 'http://127.0.0.1:1' }, { clock }),
    says: {
      paid,
      async failed(sessionRef) {
        const session = world.things.get(sessionRef)!;
        const { amount_total, currency } = session;
        const payment = await world.payment(amount_total, currency, { status: 'requires_payment_method' });
        Object.assign(session, { status: 'complete', url: null, payment_intent: payment['id'] });
        return [event('checkout.session.async_payment_failed', session)];
      },
      async expired(sessionRef) {
        const session = world.things.get(sessionRef)!;
        Object.assign(session, { status: 'expired', url: null });
        return [event('checkout.session.expired', session)];
      },
      renewed: (subscriptionRef) => nextPeriod(subscriptionRef, true),
      renewalFailed: (subscriptionRef) => nextPeriod(subscriptionRef, false),
      async subscriptionEnded(subscriptionRef) {
        const subscription = world.things.get(subscriptionRef)!;
        Object.assign(subscription, { status: 'canceled', ended_at: world.now });
        return [event('customer.subscription.deleted', subscription)];
      },
      async refunded(paymentRef, amountMinor) {
        const charge = world.chargeOf(paymentRef);
        world.refund(charge, toStripe(amountMinor, charge['currency'].toUpperCase()));
        return [event('charge.refunded', charge)];
      },
      disputed: (paymentRef) =>
        disputed(paymentRef, 'needs_response', 'charge.dispute.created', 'charge.dispute.funds_withdrawn'),
      disputeWon: (paymentRef) =>
        disputed(paymentRef, 'won', 'charge.dispute.closed', 'charge.dispute.funds_reinstated'),
      disputeLost: (paymentRef) => disputed(paymentRef, 'lost', 'charge.dispute.closed'),
      async somethingElse() {
        const example = async (prefix: string, path: string, changes: Thing = {}) =>
          world.make(prefix, path, changes);
        return [
          event('customer.created', await example('cus', 'customers')),
          event('invoice.paid', await example('in', 'invoices', { parent: null })),
          event('customer.subscription.updated', await example('sub', 'subscriptions')),
          event('checkout.session.completed', await example('cs_test', 'checkout/sessions')),
          event('charge.refunded', await example('ch', 'charges', { payment_intent: null })),
        ];
      },
    },
    ofAnotherAccount: async () =>
      event('customer.created', await world.make('cus', 'customers', {}), { account: 'acct_other' }),
    forge: ({ body }) => sign(body.toString(), clock, 'whsec_another'),
    tokens: { accepted: 'spt_test_accepted', declined: DECLINED_TOKEN },
  };
}
