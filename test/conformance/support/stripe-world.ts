import type { Clock } from '../../../src/platform/clock.ts';
import { part, text, type Form } from './form.ts';

/** An object of Stripe as received. */
export type Thing = Record<string, any>;

/** Returns the example of Stripe's mock for a path. */
export type Example = (path: string) => Promise<Thing>;

const PERIODS: Readonly<Record<string, number>> = { month: 30 * 86_400, year: 365 * 86_400 };

/** Fields that are included only on request. `params` are ours, and never are. */
const HIDDEN = ['payments', 'params'];

/** The objects of a Stripe account by id, in the shape of the mock's examples. */
export class StripeWorld {
  readonly things = new Map<string, Thing>();
  readonly #clock: Clock;
  readonly #example: Example;
  #made = 0;

  constructor(clock: Clock, example: Example) {
    this.#clock = clock;
    this.#example = example;
  }

  get now(): number {
    return Math.floor(this.#clock.now().getTime() / 1000);
  }

  newId(prefix: string): string {
    return `${prefix}_${String((this.#made += 1)).padStart(6, '0')}`;
  }

  /** Stores an object like an example, with changes. */
  async make(prefix: string, path: string, changes: Thing, example?: Thing): Promise<Thing> {
    const id: string = changes['id'] ?? this.newId(prefix);
    const thing = {
      ...(example ?? (await this.#example(`/v1/${path}/${id}`))),
      created: this.now,
      ...changes,
      id,
    };
    this.things.set(id, thing);
    return thing;
  }

  /** An object as Stripe returns it: references as ids, except expanded ones. */
  show(thing: Thing, expand: readonly string[] = []): Thing {
    const shown = structuredClone(thing);
    const wanted = (name: string) =>
      expand
        .filter((path) => path === name || path.startsWith(`${name}.`))
        .map((path) => path.slice(name.length + 1));
    for (const name of HIDDEN) if (wanted(name).length === 0) delete shown[name];
    for (const [name, value] of Object.entries(shown)) {
      const whole = typeof value === 'string' ? this.things.get(value) : undefined;
      if (whole && wanted(name).length > 0) shown[name] = this.show(whole, wanted(name));
    }
    return shown;
  }

  list(things: readonly Thing[]): Thing {
    return {
      object: 'list',
      data: things.map((thing) => this.show(thing)),
      has_more: false,
      url: '/v1/things',
    };
  }

  of(object: string): Thing[] {
    return [...this.things.values()].filter((thing) => thing['object'] === object);
  }

  async session(params: Form, example: Thing): Promise<Thing> {
    const price = part(params, 'line_items', '0', 'price_data')!;
    const id = this.newId('cs_test');
    return this.make(
      'cs_test',
      'checkout/sessions',
      {
        id,
        url: `https://checkout.stripe.com/c/pay/${id}`,
        mode: text(params, 'mode'),
        status: 'open',
        payment_status: 'unpaid',
        client_reference_id: text(params, 'client_reference_id') ?? null,
        metadata: { ...part(params, 'metadata') },
        amount_total: Number(text(price, 'unit_amount')),
        currency: text(price, 'currency'),
        customer: text(params, 'customer') ?? null,
        expires_at: Number(text(params, 'expires_at')),
        invoice: null,
        payment_intent: null,
        subscription: null,
        // The parameters of its creation, which later changes use.
        params,
      },
      example,
    );
  }

  /** A successful payment. */
  async payment(amount: number, currency: string, changes: Thing = {}): Promise<Thing> {
    const id = this.newId('pi');
    const charge = await this.make('ch', 'charges', {
      amount,
      amount_captured: amount,
      amount_refunded: 0,
      currency,
      disputed: false,
      payment_intent: id,
      receipt_url: `https://pay.stripe.com/receipts/${id}`,
      refunded: false,
    });
    return this.make('pi', 'payment_intents', {
      id,
      amount,
      currency,
      latest_charge: charge['id'],
      status: 'succeeded',
      ...changes,
    });
  }

  async price(params: Form): Promise<Thing> {
    const [currency, product] = [text(params, 'currency'), text(params, 'product')];
    const example = await this.#example('/v1/prices/price_1');
    const recurring = { ...example['recurring'], interval: text(params, 'recurring', 'interval') };
    const unit_amount = Number(text(params, 'unit_amount'));
    return { ...example, id: this.newId('price'), currency, product, recurring, unit_amount };
  }

  async subscription(session: Thing): Promise<Thing> {
    const example = await this.#example('/v1/subscriptions/sub_1');
    const id = this.newId('sub');
    const price = await this.price(part(session['params'], 'line_items', '0', 'price_data')!);
    const item = {
      ...example['items'].data[0],
      id: this.newId('si'),
      price,
      quantity: 1,
      subscription: id,
      current_period_start: this.now,
      current_period_end: this.now + PERIODS[price['recurring'].interval]!,
    };
    return this.make('sub', 'subscriptions', {
      id,
      status: 'active',
      metadata: { ...part(session['params'], 'subscription_data', 'metadata') },
      customer: session['customer'],
      items: { ...example['items'], data: [item] },
      cancel_at: null,
      cancel_at_period_end: false,
      canceled_at: null,
      ended_at: null,
    });
  }

  /** The bill of the current period. */
  async invoice(subscription: Thing, reason: string, paid = true): Promise<Thing> {
    const [item] = subscription['items'].data;
    const { unit_amount: amount, currency } = item.price;
    const payment = await this.payment(amount, currency, paid ? {} : { status: 'requires_payment_method' });
    const id = this.newId('in');
    const example = await this.#example('/v1/invoices/in_1');
    const line = {
      ...example['lines'].data[0],
      amount,
      currency,
      period: { start: item.current_period_start, end: item.current_period_end },
    };
    const [invoicePayment] = (await this.#example('/v1/invoice_payments'))['data'];
    const { id: subscriptionId, metadata } = subscription;
    const invoice = await this.make('in', 'invoices', {
      id,
      amount_due: amount,
      amount_paid: paid ? amount : 0,
      attempted: true,
      billing_reason: reason,
      currency,
      hosted_invoice_url: `https://invoice.stripe.com/i/${id}`,
      lines: { ...example['lines'], data: [line] },
      number: `LK-${id}`,
      parent: {
        type: 'subscription_details',
        quote_details: null,
        subscription_details: { metadata, subscription: subscriptionId },
      },
      // The previous period, as Stripe reports it.
      period_start: item.current_period_start - 1,
      period_end: item.current_period_start,
      status: paid ? 'paid' : 'open',
      payments: {
        object: 'list',
        data: [
          {
            ...invoicePayment,
            id: this.newId('inpay'),
            amount_requested: amount,
            currency,
            invoice: id,
            is_default: true,
            payment: { type: 'payment_intent', payment_intent: payment['id'] },
            status: paid ? 'paid' : 'open',
          },
        ],
      },
    });
    subscription['latest_invoice'] = id;
    return invoice;
  }

  nextPeriod(subscription: Thing): void {
    const [item] = subscription['items'].data;
    item.current_period_start = item.current_period_end;
    item.current_period_end += PERIODS[item.price.recurring.interval]!;
  }

  chargeOf(paymentRef: string): Thing {
    return this.things.get(this.things.get(paymentRef)!['latest_charge'])!;
  }

  refund(charge: Thing, amount: number): void {
    charge['amount_refunded'] += amount;
    charge['refunded'] = charge['amount_refunded'] === charge['amount'];
  }
}
