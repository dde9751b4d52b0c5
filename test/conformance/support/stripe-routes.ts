import { part, text, type Form } from './form.ts';
import type { StripeWorld, Thing } from './stripe-world.ts';

/** A request that the mock found valid by Stripe's contract. */
export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  /** The body, or the query. */
  readonly params: Form;
  /** The response of the mock. */
  readonly example: Thing;
}

/** A refusal by Stripe. */
export class Refusal extends Error {
  readonly status: number;
  readonly error: Thing;

  constructor(status: number, error: Thing) {
    super(error['message']);
    this.status = status;
    this.error = error;
  }
}

const invalid = (message: string, more: Thing = {}, status = 400) =>
  new Refusal(status, { type: 'invalid_request_error', message, ...more });
const missing = (id: string) => invalid(`No such thing: '${id}'`, { code: 'resource_missing' }, 404);

export const DECLINED_TOKEN = 'spt_test_declined';

type Route = (world: StripeWorld, found: () => Thing, request: StripeRequest) => Thing | Promise<Thing>;

const retrieve: Route = (world, found, { params }) =>
  world.show(found(), Object.values(part(params, 'expand') ?? {}) as string[]);

/** The behavior of Stripe where it differs from its mock. */
const routes: readonly (readonly [string, RegExp, Route])[] = [
  [
    'POST',
    /^products$/,
    (world, _found, { params, example }) => {
      const id = text(params, 'id')!;
      if (world.things.has(id)) throw invalid('Product already exists.', { code: 'resource_already_exists' });
      return world.make('prod', 'products', { id, name: text(params, 'name') }, example);
    },
  ],
  [
    'POST',
    /^products\/(\w+)$/,
    (_world, found, { params }) => Object.assign(found(), { name: text(params, 'name') }),
  ],
  [
    'POST',
    /^checkout\/sessions$/,
    async (world, _found, { params, example }) => {
      const product = text(params, 'line_items', '0', 'price_data', 'product')!;
      if (!world.things.has(product)) throw missing(product);
      const time = Number(text(params, 'expires_at')) - world.now;
      if (time < 1_800 || time > 86_400) throw invalid('The `expires_at` timestamp is out of range.');
      return world.show(await world.session(params, example));
    },
  ],
  [
    'GET',
    /^checkout\/sessions$/,
    (world, _found, { params }) => {
      const since = Number(text(params, 'created', 'gte'));
      return world.list(world.of('checkout.session').filter(({ created }) => created >= since));
    },
  ],
  ['GET', /^(?:checkout\/sessions|subscriptions|invoices|payment_intents|charges)\/(\w+)$/, retrieve],
  [
    'POST',
    /^subscriptions\/(\w+)$/,
    async (world, found, { params }) => {
      const subscription = found();
      if (subscription['status'] === 'canceled') throw missing(subscription['id']);
      const price = part(params, 'items', '0', 'price_data');
      if (price) {
        const product = text(price, 'product')!;
        const [item] = subscription['items'].data;
        if (!world.things.has(product)) throw missing(product);
        if (text(params, 'items', '0', 'id') !== item.id) throw invalid('Not an item of the subscription.');
        item.price = await world.price(price);
        await world.invoice(subscription, 'subscription_update');
      }
      Object.assign(subscription['metadata'], part(params, 'metadata'));
      const cancel = text(params, 'cancel_at_period_end');
      if (cancel !== undefined) subscription['cancel_at_period_end'] = cancel === 'true';
      return world.show(subscription);
    },
  ],
  [
    'DELETE',
    /^subscriptions\/(\w+)$/,
    (world, found) => {
      const subscription = found();
      if (subscription['status'] === 'canceled') throw missing(subscription['id']);
      return world.show(Object.assign(subscription, { status: 'canceled' }));
    },
  ],
  [
    'GET',
    /^invoice_payments$/,
    (world, _found, { params }) => {
      const invoice = world.things.get(text(params, 'invoice')!);
      return world.list(invoice?.['payments'].data ?? []);
    },
  ],
  [
    'GET',
    /^disputes$/,
    (world, _found, { params }) =>
      world.list(
        world.of('dispute').filter(({ payment_intent }) => payment_intent === text(params, 'payment_intent')),
      ),
  ],
  [
    'POST',
    /^refunds$/,
    (world, _found, { params, example }) => {
      const id = text(params, 'payment_intent')!;
      if (!world.things.has(id)) throw missing(id);
      const charge = world.chargeOf(id);
      const left = charge['amount'] - charge['amount_refunded'];
      if (left === 0) throw invalid('Charge has already been refunded.', { code: 'charge_already_refunded' });
      const amount = Number(text(params, 'amount') ?? left);
      if (amount > left)
        throw invalid('Refund amount is greater than unrefunded amount.', { param: 'amount' });
      world.refund(charge, amount);
      return { ...example, amount, payment_intent: id, status: 'succeeded' };
    },
  ],
  [
    'POST',
    /^payment_intents$/,
    async (world, _found, { params }) => {
      if (text(params, 'shared_payment_granted_token') === DECLINED_TOKEN) {
        throw new Refusal(402, {
          type: 'card_error',
          code: 'card_declined',
          message: 'Your card was declined.',
        });
      }
      return world.show(await world.payment(Number(text(params, 'amount')), text(params, 'currency')!));
    },
  ],
];

/** @returns Stripe's response, or the mock's example if that suffices @throws Refusal */
export async function respond(world: StripeWorld, request: StripeRequest): Promise<Thing> {
  for (const [method, pattern, route] of routes) {
    const match = method === request.method ? pattern.exec(request.path) : null;
    if (!match) continue;
    const id = match[1] ?? '';
    const found = () => {
      const thing = world.things.get(id);
      if (!thing) throw missing(id);
      return thing;
    };
    return route(world, found, request);
  }
  return request.example;
}
