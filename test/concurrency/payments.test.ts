import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SignedEvent } from '../conformance/support/payments.ts';
import { sign } from '../conformance/support/stripe-harness.ts';
import type { Thing } from '../conformance/support/stripe-world.ts';
import { newReseller } from '../operations/support/resellers.ts';
import { ADMINISTRATOR, openCheckout, sellPlan, type Opened } from '../support/billing.ts';
import { newApp, newDeveloper, type App, type Developer } from '../support/fixtures.ts';
import { shuffled, tally, type LightResponse } from './load.ts';
import { sessionOf, startStripeProcesses } from './stripe-processes.ts';

const { clock, send, services, sql, stripe } = await startStripeProcesses();
const [{ api }] = services;
const { says, server } = stripe;
const { world } = server;

/** The highest quota without a payment, because packs of licenses are for developers with a limit. */
await api.call('PATCH', '/api/v2/admin/plans/free', { max_licenses: 0 }, ADMINISTRATOR);
const plans = {
  pack: await sellPlan(api, { kind: 'license_quota', period: 'lifetime', price: 10, licenses: 100 }),
  balance: await sellPlan(api, { kind: 'reseller_balance', period: 'lifetime', price: 50, balance: 60 }),
  forever: await sellPlan(api, { period: 'lifetime', price: 490 }),
  monthly: await sellPlan(api),
};
type Kind = keyof typeof plans;
const kinds = Object.keys(plans) as Kind[];

interface Buyer extends Developer {
  readonly app: App;
  readonly resellerId: string;
  readonly resellerToken: string;
}

async function newBuyer(): Promise<Buyer> {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { reseller_id: resellerId, token: resellerToken } = await newReseller(api, app);
  return { ...developer, app, resellerId, resellerToken };
}

const open = (buyer: Developer, kind: Kind) => openCheckout(api, buyer, plans[kind]);
const session = (opened: Opened): Thing => world.things.get(sessionOf(opened))!;
const subscriptionOf = (opened: Opened): string => session(opened)['subscription'];

/** Stripe's reference of a checkout's first payment. */
function paymentOf(opened: Opened): string {
  const { payment_intent, invoice } = session(opened);
  return payment_intent ?? world.things.get(invoice)!['payments'].data[0].payment.payment_intent;
}

/** A developer's quotas, balances and payments, without names and times. */
async function books({ developerId }: Developer): Promise<Record<string, unknown>> {
  const [row] = await sql<{ books: Record<string, unknown> }>(
    `select jsonb_build_object(
       'plan', (select name from plans p where p.plan_id = d.plan_id),
       'packs', d.license_packs,
       'entries', (select coalesce(sum(amount), 0) from license_quota_entries e where e.developer_id = d.developer_id),
       'balance', (select sum(balance_minor) from resellers r where r.developer_id = d.developer_id),
       'owed', (select sum(owed_minor) from resellers r where r.developer_id = d.developer_id),
       'ledger', (select coalesce(sum(amount_minor), 0) from reseller_ledger l join resellers using (reseller_id)
         where resellers.developer_id = d.developer_id),
       'checkouts', (select coalesce(jsonb_agg(status order by status), '[]') from checkouts c
         where c.developer_id = d.developer_id),
           'invoices', (select coalesce(jsonb_agg(jsonb_build_object('state', state, 'reason', reason,
             'amount', amount_minor, 'refunded', refunded_minor, 'dispute', dispute, 'granted', units_granted)
             order by reason, amount_minor, state), '[]')
         from invoices i where i.developer_id = d.developer_id),
       'subscriptions', (select coalesce(jsonb_agg(jsonb_build_object('state', state, 'paid', paid,
         'reversed', reversed, 'canceled', cancel_at_period_end, 'to end', end_wanted,
         'end', period_end > now() + interval '32 days')
         order by state), '[]') from plan_subscriptions s where s.developer_id = d.developer_id)
     ) as books from developers d where developer_id = $1`,
    [developerId],
  );
  return row!.books;
}

/** The number of rows that payments leave. */
const traces = async () =>
  (
    await sql<Record<string, number>>(
      `select (select count(*)::int from invoices) as invoices,
         (select count(*)::int from plan_subscriptions) as subscriptions,
         (select count(*)::int from license_quota_entries) as entries,
         (select count(*)::int from reseller_ledger) as ledger,
         (select count(*)::int from payment_reversals) as reversals,
         (select count(*)::int from payment_notices) as payment_events,
         (select count(*)::int from events) as events, (select count(*)::int from audit_log) as audited`,
    )
  )[0]!;

const messages = (responses: readonly LightResponse[]) =>
  responses.reduce<Record<string, number>>((counts, { status, body, code }) => {
    const message = code ?? String(body['message']);
    return { ...counts, [`${status} ${message}`]: (counts[`${status} ${message}`] ?? 0) + 1 };
  }, {});

const HAS: Readonly<Record<Kind, object>> = {
  pack: { plan: 'Free', packs: 100, entries: 100 },
  balance: { plan: 'Free', balance: 6_000, ledger: 6_000 },
  forever: { plan: plans.forever.name },
  monthly: { plan: plans.monthly.name },
};
const NOTHING = { packs: 0, entries: 0, balance: 0, owed: 0, ledger: 0, invoices: [], subscriptions: [] };

beforeAll(async () => {
  const [free] = await sql<{ name: string }>("select name from plans where plan_id = 'free'");
  for (const has of Object.values(HAS) as { plan: string }[]) if (has.plan === 'Free') has.plan = free!.name;
});
beforeEach(() => clock.reset());

describe('one event 100 times at once to both processes', () => {
  test.each(kinds)('%s: one grant', async (kind) => {
    const buyer = await newBuyer();
    const opened = await open(buyer, kind);
    const events = await says.paid(sessionOf(opened));
    const completed = events.at(-1)!;
    const responses = await Promise.all(Array.from({ length: 100 }, (_, turn) => send(turn, completed)));
    expect(messages(responses)).toEqual({ '200 applied': 1, '200 repeated': 99 });
    const rest = events.slice(0, -1);
    const more = await Promise.all(
      rest.flatMap((event) => Array.from({ length: 30 }, (_, turn) => send(turn, event))),
    );
    expect(messages(more)).toEqual(
      rest.length > 0 ? { '200 applied': rest.length, '200 repeated': rest.length * 29 } : {},
    );
    const found = await books(buyer);
    expect(found).toMatchObject({ ...HAS[kind], checkouts: ['paid'] });
    expect(found['invoices']).toHaveLength(1);
    expect(found['subscriptions']).toHaveLength(kind === 'forever' || kind === 'monthly' ? 1 : 0);
  });
});

describe('a forged event', async () => {
  const [first] = stripe.settings.webhookSecrets;
  const MINUTE = 60_000;
  const at = (ms: number) => ({ now: () => new Date(clock.now().getTime() + ms) });
  const again = ({ body }: SignedEvent, ms: number) => sign(body.toString(), at(ms));
  const flipped = (text: string, place: number) =>
    text.slice(0, place) + String.fromCharCode(text.charCodeAt(place) ^ 1) + text.slice(place + 1);
  const changed = ({ body }: SignedEvent, changes: Thing) =>
    sign(JSON.stringify({ ...(JSON.parse(body.toString()) as Thing), ...changes }), clock);
  const signatureOf = ({ headers }: SignedEvent) => String(headers['stripe-signature']);

  const REFUSED: Readonly<Record<string, (event: SignedEvent) => SignedEvent>> = {
    'another secret': stripe.forge,
    'an unknown secret': ({ body }) => sign(body.toString(), clock, 'whsec_'),
    'one flipped bit in the amount': (event) => {
      const text = event.body.toString();
      const place = text.indexOf('"amount_total": 1') + '"amount_total": 1'.length;
      return { ...event, body: Buffer.from(flipped(text, place)) };
    },
    'one flipped bit in the signature': (event) => ({
      ...event,
      headers: { 'stripe-signature': flipped(signatureOf(event), signatureOf(event).length - 1) },
    }),
    'another time than the signed one': (event) => ({
      ...event,
      headers: { 'stripe-signature': signatureOf(event).replace(/\d(?=,)/, (digit) => flipped(digit, 0)) },
    }),
    'no signature': (event) => ({ ...event, headers: {} }),
    'an empty signature': (event) => ({ ...event, headers: { 'stripe-signature': '' } }),
    'a signature of another scheme': (event) => ({
      ...event,
      headers: { 'stripe-signature': signatureOf(event).replace('v1=', 'v0=') },
    }),
    'the signature of another body': (event) => ({ ...event, headers: sign('{}', clock).headers }),
    '6 minutes old': (event) => again(event, -6 * MINUTE),
    'from 6 minutes ahead': (event) => again(event, 6 * MINUTE),
    'another account': (event) => changed(event, { account: 'acct_other' }),
    'real money': (event) => changed(event, { livemode: true }),
    'no event': () => sign('{}', clock),
  };

  test.each(Object.entries(REFUSED))('%s: 400, and nothing is left behind', async (_what, forge) => {
    const buyer = await newBuyer();
    const opened = await open(buyer, 'pack');
    const event = (await says.paid(sessionOf(opened)))[0]!;
    const before = await traces();
    for (const turn of [0, 1]) {
      const response = await send(turn, forge(event));
      expect([response.status, response.code]).toEqual([400, 'INVALID_PAYMENT_EVENT']);
    }
    expect(await traces()).toEqual(before);
    expect(await books(buyer)).toMatchObject({ ...NOTHING, checkouts: ['open'] });
    expect((await send(0, event)).body['message']).toBe('applied');
    expect(await books(buyer)).toMatchObject(HAS.pack);
  });

  test('within 5 minutes, and with either of two secrets: accepted', async () => {
    const buyer = await newBuyer();
    for (const [index, resign] of [
      (event: SignedEvent) => again(event, -4 * MINUTE),
      (event: SignedEvent) => again(event, 4 * MINUTE),
      ({ body }: SignedEvent) => sign(body.toString(), clock, first),
    ].entries()) {
      const [event] = await says.paid(sessionOf(await open(buyer, 'pack')));
      expect((await send(index, resign(event!))).body['message']).toBe('applied');
    }
    expect(await books(buyer)).toMatchObject({ packs: 300, entries: 300 });
  });

  const MISTAKEN: Readonly<Record<string, [message: string, (opened: Opened, other: Opened) => Thing]>> = {
    'another amount': ['refused', () => ({ amount_total: 999 })],
    'ten times the amount': ['refused', () => ({ amount_total: 10_000 })],
    nothing: ['refused', () => ({ amount_total: 0, payment_status: 'no_payment_required' })],
    'another currency': ['refused', () => ({ currency: 'jpy' })],
    'another purchase': ['refused', (_opened, other) => ({ metadata: { reference: other.sessionId } })],
    'an unknown purchase': ['refused', () => ({ metadata: { reference: 'chk_unknown' } })],
    'no purchase of ours': ['ignored', () => ({ metadata: {} })],
  };

  test.each(Object.entries(MISTAKEN))(
    '%s: 200, and nothing is granted',
    async (_what, [message, changes]) => {
      const [buyer, other] = [await newBuyer(), await newBuyer()];
      const [opened, another] = [await open(buyer, 'pack'), await open(other, 'pack')];
      Object.assign(session(opened), changes(opened, another));
      const [event] = await says.paid(sessionOf(opened));
      const status = (changes(opened, another)['payment_status'] as string | undefined) ?? 'paid';
      session(opened)['payment_status'] = status;
      const before = await traces();
      const response = await send(0, event!);
      expect([response.status, response.body['message']]).toEqual([200, message]);
      expect((await send(1, event!)).body['message']).toBe(message === 'refused' ? 'repeated' : message);
      const payment_events = before['payment_events']! + (message === 'refused' ? 1 : 0);
      expect(await traces()).toEqual({ ...before, payment_events });
      for (const each of [buyer, other]) {
        expect(await books(each)).toMatchObject({ ...NOTHING, checkouts: ['open'] });
      }
    },
  );

  test('an irrelevant event: ignored', async () => {
    const before = await traces();
    for (const event of await says.somethingElse()) {
      expect((await send(0, event)).body['message']).toBe('ignored');
    }
    expect(await traces()).toEqual(before);
  });
});

/** The events of a purchase. */
interface Story {
  readonly kind: Kind;
  /** Causes the events. @returns all of Stripe's messages about them, in order */
  happens(opened: Opened): Promise<SignedEvent[]>;
  readonly ends: object;
}

const STORIES: Readonly<Record<string, Story>> = {
  'a pack that was refunded in parts': {
    kind: 'pack',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await says.refunded(paymentOf(opened), 300)),
      ...(await says.refunded(paymentOf(opened), 250)),
    ],
    ends: { packs: 45, entries: 45 },
  },
  'a pack that was refunded in part, disputed and won': {
    kind: 'pack',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await says.refunded(paymentOf(opened), 100)),
      ...(await says.disputed(paymentOf(opened))),
      ...(await later(() => says.disputeWon(paymentOf(opened)))),
    ],
    ends: { packs: 90, entries: 90 },
  },
  'balance that was disputed and lost': {
    kind: 'balance',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await says.disputed(paymentOf(opened))),
      ...(await later(() => says.disputeLost(paymentOf(opened)))),
    ],
    ends: { balance: 0, owed: 0, ledger: 0 },
  },
  'balance that was disputed and won': {
    kind: 'balance',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await says.disputed(paymentOf(opened))),
      ...(await later(() => says.disputeWon(paymentOf(opened)))),
    ],
    ends: { balance: 6_000, owed: 0, ledger: 6_000 },
  },
  'a lifetime plan that was refunded': {
    kind: 'forever',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await says.refunded(paymentOf(opened), 49_000)),
    ],
    ends: { checkouts: ['paid'] },
  },
  'a subscription that was renewed, failed once, and ended': {
    kind: 'monthly',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await later(() => says.renewed(subscriptionOf(opened)))),
      ...(await later(() => says.renewalFailed(subscriptionOf(opened)))),
      ...(await later(() => says.subscriptionEnded(subscriptionOf(opened)))),
    ],
    ends: { subscriptions: [expect.objectContaining({ state: 'ended', 'to end': false })] },
  },
  'a subscription whose first period was refunded after it was renewed': {
    kind: 'monthly',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await later(() => says.renewed(subscriptionOf(opened)))),
      ...(await later(() => says.refunded(paymentOf(opened), 1_900))),
    ],
    ends: { subscriptions: [expect.objectContaining({ state: 'active', reversed: false, 'to end': false })] },
  },
  'a subscription that was disputed and lost': {
    kind: 'monthly',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await says.disputed(paymentOf(opened))),
      ...(await later(() => says.disputeLost(paymentOf(opened)))),
    ],
    ends: {
      subscriptions: [expect.objectContaining({ state: 'active', reversed: true, 'to end': true })],
    },
  },
  'a subscription that ended and was refunded then': {
    kind: 'monthly',
    happens: async (opened) => [
      ...(await says.paid(sessionOf(opened))),
      ...(await later(() => says.subscriptionEnded(subscriptionOf(opened)))),
      ...(await later(() => says.refunded(paymentOf(opened), 1_900))),
    ],
    ends: { subscriptions: [expect.objectContaining({ state: 'ended', 'to end': false })] },
  },
  'a payment that failed': {
    kind: 'pack',
    happens: async (opened) => {
      Object.assign(session(opened), { status: 'complete', url: null });
      return [
        stripe.event('checkout.session.completed', session(opened)),
        ...(await later(() => says.failed(sessionOf(opened)))),
      ];
    },
    ends: { ...NOTHING, checkouts: ['failed'] },
  },
};

async function later<Result>(happens: () => Promise<Result>): Promise<Result> {
  clock.step();
  return happens();
}

describe('in any order, number and process', () => {
  test.each(Object.entries(STORIES))('%s ends the same', async (_name, { kind, happens, ends }) => {
    const playStory = async () => {
      clock.reset();
      const buyer = await newBuyer();
      return { buyer, events: await happens(await open(buyer, kind)) };
    };
    const model = await playStory();
    for (const event of model.events) expect((await send(0, event)).status).toBe(200);
    const expected = await books(model.buyer);
    expect(expected).toMatchObject(ends);
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...model.events.keys()], { minLength: model.events.length }),
        fc.array(fc.nat(model.events.length - 1), { maxLength: 5 }),
        fc.array(fc.nat(1), { minLength: 20, maxLength: 20 }),
        fc.boolean(),
        async (each, again, turns, together) => {
          const { buyer, events } = await playStory();
          const order = [...each, ...again];
          const one = async (place: number, index: number) => {
            const { status } = await send(turns[index % turns.length]!, events[place]!);
            expect(status).toBe(200);
          };
          if (together) await Promise.all(order.map(one));
          else for (const [index, place] of order.entries()) await one(place, index);
          expect(await books(buyer)).toEqual(expected);
        },
      ),
      { numRuns: 8 },
    );
  });

  test('all of them at once', async () => {
    const stories: (Story & { readonly buyer: Buyer; readonly opened: Opened })[] = [];
    for (const story of [...Object.values(STORIES), ...Object.values(STORIES)]) {
      const buyer = await newBuyer();
      stories.push({ ...story, buyer, opened: await open(buyer, story.kind) });
    }
    const events: SignedEvent[] = [];
    for (const { happens, opened } of stories) {
      clock.reset();
      const all = await happens(opened);
      events.push(...all, ...all);
    }
    const responses = await Promise.all(shuffled(events).map((event, turn) => send(turn, event)));
    expect(Object.keys(tally(responses))).toEqual(['200']);
    for (const { buyer, ends } of stories) expect(await books(buyer)).toMatchObject(ends);
  });
});
