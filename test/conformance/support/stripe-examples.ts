import type { Thing } from './stripe-world.ts';

const OBJECTS: Readonly<Record<string, string>> = {
  charges: 'charge',
  'checkout/sessions': 'checkout.session',
  customers: 'customer',
  disputes: 'dispute',
  invoices: 'invoice',
  payment_intents: 'payment_intent',
  prices: 'price',
  products: 'product',
  refunds: 'refund',
  subscriptions: 'subscription',
};
const PARTS: Readonly<Record<string, Thing>> = {
  disputes: { data: [] },
  invoice_payments: { data: [{ object: 'invoice_payment' }] },
  invoices: {
    lines: { object: 'list', data: [{ object: 'line_item' }] },
    starting_balance: 0,
    ending_balance: 0,
  },
  prices: { recurring: { interval_count: 1 } },
  subscriptions: { items: { object: 'list', data: [{ object: 'subscription_item' }] } },
};

/** An example of the object at a path of Stripe's API, with only the parts that we read. */
export function exampleOf(target: string): Thing {
  const [path] = target.replace('/v1/', '').split('?', 1) as [string];
  const name = Object.keys({ ...OBJECTS, ...PARTS }).find((each) => `${path}/`.startsWith(`${each}/`));
  if (name === undefined) throw new Error(`no example of ${target}`);
  return structuredClone({ object: OBJECTS[name] ?? 'list', livemode: false, metadata: {}, ...PARTS[name] });
}
