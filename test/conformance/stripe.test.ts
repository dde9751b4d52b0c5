import { describe, expect, onTestFinished, test } from 'vitest';
import type { PaymentFact, PaymentEvent, Order, Product } from '../../src/platform/payments/index.ts';
import { openStripe } from '../../src/platform/payments/stripe/index.ts';
import { DAY, SECOND } from '../support/clock.ts';
import { readForm } from './support/form.ts';
import type { SignedEvent } from './support/payments.ts';
import { sign, startStripe } from './support/stripe-harness.ts';
import { Refusal } from './support/stripe-routes.ts';
import type { RecordedRequest } from './support/stripe-server.ts';

const stripe = await startStripe();

describe.skipIf(!stripe)('Stripe', () => {
  const harness = stripe!;
  const { clock, server, settings } = harness ?? {};
  let orders = 0;

  const product: Product = {
    productId: 'plan_1',
    name: 'Pro',
    amountMinor: 4_990,
    currency: 'EUR',
    recurring: 'monthly',
  };

  const order = (changes: Partial<Order> = {}): Order => ({
    reference: `chk_stripe_${(orders += 1)}`,
    product,
    customer: { reference: 'dev_1', email: 'ada@example.com', customerRef: null },
    successUrl: 'https://shop.example.com/thanks?a=1&b=2',
    cancelUrl: 'https://shop.example.com/',
    expiresAt: new Date(clock.now().getTime() + DAY / 2),
    ...changes,
  });

  /** The requests that Stripe receives during a function. */
  async function requestsOf(work: () => Promise<unknown>): Promise<RecordedRequest[]> {
    const before = server.requests.length;
    await work();
    return server.requests.slice(before);
  }

  async function read({ body, headers }: SignedEvent): Promise<PaymentEvent | undefined> {
    return (await harness.open()).readEvent(body, headers);
  }

  async function subscribed() {
    const wanted = order();
    const { sessionRef } = await (await harness.open()).openCheckout(wanted);
    const events = await harness.says.paid(sessionRef);
    const { subscription } = server.world.things.get(sessionRef)!;
    const { latest_invoice: invoice } = server.world.things.get(subscription)!;
    return { reference: wanted.reference, sessionRef, events, subscription, invoice } as {
      reference: string;
      sessionRef: string;
      events: SignedEvent[];
      subscription: string;
      invoice: string;
    };
  }

  /** Refuses requests to a path until the end of the test. */
  function refuse(path: RegExp, refusal: Refusal): void {
    server.refuses = (method, requests) => (path.test(`${method} ${requests}`) ? refusal : undefined);
    onTestFinished(() => {
      server.refuses = () => undefined;
    });
  }

  const outage = new Refusal(503, { type: 'api_error', message: 'Down for a moment.' });

  describe('receives requests', () => {
    test('for a page to subscribe', async () => {
      const wanted = order();
      const requests = await requestsOf(async () => (await harness.open()).openCheckout(wanted));
      expect(new Set(requests.map(({ version }) => version))).toEqual(new Set(['2026-10-28.endive']));
      const { idempotencyKey, body } = requests.at(-1)!;
      expect(idempotencyKey).toBe(`checkout_${wanted.reference}`);
      const metadata = {
        reference: wanted.reference,
        product_id: 'plan_1',
        customer_reference: 'dev_1',
      };
      expect(readForm(body)).toEqual({
        mode: 'subscription',
        client_reference_id: wanted.reference,
        metadata,
        subscription_data: { metadata },
        line_items: {
          0: {
            quantity: '1',
            price_data: {
              currency: 'eur',
              product: 'latchkey_plan_1',
              unit_amount: '4990',
              recurring: { interval: 'month' },
            },
          },
        },
        customer_email: 'ada@example.com',
        success_url: wanted.successUrl,
        cancel_url: wanted.cancelUrl,
        expires_at: String(wanted.expiresAt.getTime() / 1000),
        adaptive_pricing: { enabled: 'false' },
      });
    });

    test('for a page to pay once, as a known customer', async () => {
      const wanted = order({
        product: { ...product, recurring: null, currency: 'ISK', amountMinor: 7_000 },
        customer: { reference: 'dev_1', email: 'ada@example.com', customerRef: 'cus_known' },
      });
      const requests = await requestsOf(async () => (await harness.open()).openCheckout(wanted));
      const body = readForm(requests.at(-1)!.body);
      expect(body).toMatchObject({
        mode: 'payment',
        customer: 'cus_known',
        payment_intent_data: { metadata: { reference: wanted.reference, product_id: 'plan_1' } },
        line_items: { 0: { price_data: { currency: 'isk', unit_amount: '700000' } } },
      });
      expect(Object.keys(body)).not.toContain('customer_email');
      expect(Object.keys(body)).not.toContain('customer_creation');
    });

    test('to create a product once per process, and to rename it', async () => {
      const payments = await harness.open();
      const fresh = { ...product, productId: 'plan_fresh' };
      const requests = await requestsOf(async () => {
        await payments.openCheckout(order({ product: fresh }));
        await payments.openCheckout(order({ product: fresh }));
        await payments.openCheckout(order({ product: { ...fresh, name: 'Pro+' } }));
      });
      const paths = requests.filter(({ path }) => path.startsWith('/v1/products')).map(({ path }) => path);
      expect(paths).toEqual([
        '/v1/products/latchkey_plan_fresh',
        '/v1/products',
        '/v1/products/latchkey_plan_fresh',
      ]);
      expect(server.world.things.get('latchkey_plan_fresh')).toMatchObject({ name: 'Pro+' });
    });

    test('for a machine payment', async () => {
      const [requests] = await requestsOf(async () =>
        (await harness.open()).charge({
          key: 'machine:version',
          token: 'spt_1',
          amount: '250',
          currency: 'USD',
          description: 'A license',
        }),
      );
      expect(requests).toMatchObject({
        idempotencyKey: 'charge_machine:version',
        version: '2026-07-29.preview',
      });
      expect(readForm(requests!.body)).toEqual({
        amount: '250',
        currency: 'usd',
        confirm: 'true',
        automatic_payment_methods: { enabled: 'true', allow_redirects: 'never' },
        description: 'A license',
        shared_payment_granted_token: 'spt_1',
      });
    });

    test('to refund in its own units, once per key', async () => {
      const { world } = server;
      const { id } = await world.payment(700_000, 'isk');
      const requests = await requestsOf(async () => (await harness.open()).refund(id, 500, 'krona'));
      expect(requests.at(-1)).toMatchObject({ idempotencyKey: 'refund_krona' });
      expect(readForm(requests.at(-1)!.body)).toEqual({ payment_intent: id, amount: '50000' });
    });

    test('to end a subscription, with and without credit', async () => {
      for (const credit of [true, false]) {
        const { subscription } = await subscribed();
        const [requests] = await requestsOf(async () =>
          (await harness.open()).endSubscription(subscription, credit),
        );
        const path = `/v1/subscriptions/${subscription}?prorate=${credit}&invoice_now=${credit}`;
        expect(requests).toMatchObject({ method: 'DELETE', path });
      }
    });

    test('to move a subscription, but not if it was already moved', async () => {
      const { subscription } = await subscribed();
      const payments = await harness.open();
      const other = { ...product, productId: 'plan_2', amountMinor: 9_990 };
      const requests = await requestsOf(() => payments.changeSubscription(subscription, other));
      expect(readForm(requests.at(-1)!.body)).toEqual({
        items: {
          0: {
            id: expect.any(String),
            quantity: '1',
            price_data: {
              currency: 'eur',
              product: 'latchkey_plan_2',
              unit_amount: '9990',
              recurring: { interval: 'month' },
            },
          },
        },
        metadata: { product_id: 'plan_2' },
        proration_behavior: 'always_invoice',
        payment_behavior: 'error_if_incomplete',
      });
      const again = await requestsOf(() => payments.changeSubscription(subscription, other));
      expect(again.map(({ method }) => method)).toEqual(['GET']);
    });
  });

  test('a change that cannot be paid is declined, and the subscription is unchanged', async () => {
    const { subscription } = await subscribed();
    const payments = await harness.open();
    const before = await payments.lookUpSubscription(subscription);
    const error = { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' };
    refuse(/^POST subscriptions/, new Refusal(402, error));
    await expect(
      payments.changeSubscription(subscription, { ...product, productId: 'plan_2' }),
    ).rejects.toMatchObject({ name: 'PaymentsError', fault: 'declined' });
    expect(await payments.lookUpSubscription(subscription)).toEqual(before);
  });

  describe('reports', () => {
    test('by any of the secrets', async () => {
      const { events } = await subscribed();
      const rotated = sign(events[0]!.body.toString(), clock, 'whsec_older');
      expect(await read(rotated)).toEqual(await read(events[0]!));
      const { body, headers } = rotated;
      const fewer = openStripe({ ...settings, webhookSecrets: ['whsec_example'] }, { clock });
      await expect(fewer.readEvent(body, headers)).rejects.toMatchObject({ fault: 'signature' });
    });

    test('of real money only with a live key', async () => {
      const { subscription } = await subscribed();
      const told = server.world.things.get(subscription)!;
      const event = (livemode: boolean) => harness.event('customer.subscription.updated', told, { livemode });
      const live = openStripe({ ...settings, secretKey: 'sk_live_example' }, { clock });
      const account = { name: 'PaymentsError', fault: 'account' };
      const [real, test] = [event(true), event(false)];
      await expect(read(real)).rejects.toMatchObject(account);
      await expect(live.readEvent(test.body, test.headers)).rejects.toMatchObject(account);
      expect((await live.readEvent(real.body, real.headers))?.facts).toHaveLength(1);
    });

    test('a signed event that cannot be parsed', async () => {
      await expect(read(sign('{', clock))).rejects.toMatchObject({ fault: 'invalid' });
    });

    test('of a subscription that changed in the second of its start: the change is later', async () => {
      const { events } = await subscribed();
      const facts: PaymentFact[] = [];
      for (const event of events) facts.push(...((await read(event))?.facts ?? []));
      const states = facts.filter((fact) => fact.kind === 'subscription');
      expect(states.map(({ state }) => state)).toEqual(['pending', 'active']);
      expect(states[1]!.asOf.getTime()).toBeGreaterThan(states[0]!.asOf.getTime());
      expect(states[1]!.asOf.getTime() - states[0]!.asOf.getTime()).toBeLessThan(SECOND);
    });

    test('an invoice and a subscription in another version: they are fetched', async () => {
      const { reference, subscription, invoice } = await subscribed();
      const version = { api_version: '2024-06-20' };
      const { parent: _parent, lines: _lines, ...oldInvoice } = server.world.things.get(invoice)!;
      const bill = await read(harness.event('invoice.paid', oldInvoice, version));
      expect(bill?.facts).toMatchObject([{ kind: 'invoice', reference, subscriptionRef: subscription }]);
      const { items: _items, ...old } = server.world.things.get(subscription)!;
      const state = await read(harness.event('customer.subscription.updated', old, version));
      expect(state?.facts).toMatchObject([{ kind: 'subscription', reference, amountMinor: 4_990 }]);
    });

    test('an invoice without a copy of the reference: the subscription is fetched', async () => {
      const { reference, subscription, invoice } = await subscribed();
      const parent = { subscription_details: { subscription, metadata: null } };
      const told = { ...server.world.things.get(invoice)!, parent };
      expect((await read(harness.event('invoice.paid', told)))?.facts).toMatchObject([{ reference }]);
    });

    test('a bill that a credit covers: no payment is requested', async () => {
      const { invoice } = await subscribed();
      const told = { ...server.world.things.get(invoice)!, amount_due: 0, amount_paid: 0 };
      const requests = await requestsOf(async () => {
        const event = await read(harness.event('invoice.paid', told));
        expect(event?.facts).toMatchObject([{ state: 'paid', amountMinor: 0, paymentRef: null }]);
      });
      expect(requests).toEqual([]);
    });

    test('an event that cannot be completed now, but when it is sent again', async () => {
      const { events } = await subscribed();
      refuse(/^GET/, outage);
      const unavailable = { name: 'PaymentsUnavailableError' };
      await expect(read(events.at(-1)!)).rejects.toMatchObject(unavailable);
      server.refuses = () => undefined;
      expect((await read(events.at(-1)!))?.facts).toHaveLength(1);
    });

    test('an event of an unknown type', async () => {
      const told = { id: 'new_1', object: 'novelty' };
      expect(await read(harness.event('novelty.created', told))).toBeUndefined();
    });
  });

  test('a subscription of another service on the same account is ignored', async () => {
    const { id } = await server.world.make('sub', 'subscriptions', {});
    expect(await (await harness.open()).lookUpSubscription(id)).toEqual([]);
    const session = await server.world.make('cs_test', 'checkout/sessions', {});
    expect(await (await harness.open()).lookUpCheckout(session['id'])).toEqual([]);
  });
});
