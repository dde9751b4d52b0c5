import { beforeEach, describe, expect, test } from 'vitest';
import { startStripeAlone } from '../conformance/support/stripe-harness.ts';
import { Refusal } from '../conformance/support/stripe-routes.ts';
import { ADMINISTRATOR, openCheckout, sellPlan, type Opened } from '../support/billing.ts';
import { DAY, SECOND, TestClock } from '../support/clock.ts';
import { createTestDatabase } from '../support/database.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { sessionOf, WEBHOOK } from './stripe-processes.ts';

const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

// Stripe sends no events by itself here, only those that a test sends.
const clocks: TestClock[] = [];
const stripe = await startStripeAlone({ now: () => clocks[0]?.now() ?? new Date() });
const { says, server, settings } = stripe;
const environment = {
  DATABASE_URL: await createTestDatabase(),
  STRIPE_SECRET_KEY: settings.secretKey,
  STRIPE_WEBHOOK_SECRET: settings.webhookSecrets.join(','),
  STRIPE_API_URL: settings.apiUrl!,
};
const nodes = [await startTestService(environment), await startTestService(environment)] as const;
clocks.push(...nodes.map(({ clock }) => clock));
const [{ api, database, services }] = nodes;
const { knex } = database;
const { reconciliation, planSubscriptions, developers } = services;
const pass = (ms: number) => clocks.forEach((clock) => clock.advance(ms));

await api.call('PATCH', '/api/v2/admin/plans/free', { max_licenses: 0 }, ADMINISTRATOR);
const pack = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', price: 10, licenses: 100 });
const forever = await sellPlan(api, { period: 'lifetime', price: 490 });
const monthly = await sellPlan(api);
const larger = await sellPlan(api, { price: 29 });

const planOf = async ({ developerId }: Developer) => (await developers.account(developerId)).plan.id;
const packsOf = async ({ developerId }: Developer) => (await developers.account(developerId)).licenses?.limit;
const invoicesOf = async ({ developerId }: Developer) =>
  knex('invoices').where({ developer_id: developerId }).orderBy('invoice_id');
const statusOf = async ({ sessionId }: Opened) =>
  (await knex('checkouts').where({ checkout_id: sessionId }).first('status')).status as string;
const subscriptionOf = async ({ sessionId }: Opened) =>
  knex('plan_subscriptions').where({ checkout_id: sessionId }).first();
const refOf = (opened: Opened): string => server.world.things.get(sessionOf(opened))!['subscription'];
const ended = () =>
  server.requests.filter(({ method }) => method === 'DELETE').map(({ path, body }) => `${path} ${body}`);

/** Runs until no checkout is left to look up. */
async function reconcile(): Promise<void> {
  while ((await reconciliation.run()) > 0);
}

beforeEach(async () => {
  server.refuses = () => undefined;
  server.requests.length = 0;
  await knex('checkouts').whereIn('status', ['open', 'processing']).update({ status: 'expired' });
});

describe('a purchase whose event never arrived', () => {
  test('is settled once after 10 minutes, even if the event arrives later', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, pack);
    const [event] = await says.paid(sessionOf(opened));
    pass(10 * MINUTE);
    await reconcile();
    expect(await statusOf(opened)).toBe('open');
    expect(await packsOf(developer)).toBe(0);
    pass(1);
    await reconcile();
    expect(await statusOf(opened)).toBe('paid');
    expect(await packsOf(developer)).toBe(100);
    pass(11 * MINUTE);
    await reconcile();
    const late = stripe.event('checkout.session.completed', server.world.things.get(sessionOf(opened))!);
    for (const { body, headers } of [late, late]) {
      const sent = { headers: headers as Record<string, string> };
      expect((await api.post(WEBHOOK, body.toString(), sent)).status).toBe(200);
    }
    expect(event).toBeDefined();
    expect(await packsOf(developer)).toBe(100);
    expect(await invoicesOf(developer)).toHaveLength(1);
  });

  test('with its refund: nothing is granted', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, forever);
    await says.paid(sessionOf(opened));
    await says.refunded(server.world.things.get(sessionOf(opened))!['payment_intent'], 49_000);
    pass(11 * MINUTE);
    await reconcile();
    expect(await planOf(developer)).toBe('free');
    expect(await invoicesOf(developer)).toMatchObject([{ refunded_minor: 49_000 }]);
  });

  test('expires if it was not paid', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, forever);
    pass(11 * MINUTE);
    await reconcile();
    expect(await statusOf(opened)).toBe('open');
    await says.expired(sessionOf(opened));
    pass(11 * MINUTE);
    await reconcile();
    expect(await statusOf(opened)).toBe('expired');
    expect(await planOf(developer)).toBe('free');
  });

  test('expires after an hour if its page was never created', async () => {
    const developer = await newDeveloper(api);
    server.refuses = () => new Refusal(503, { type: 'api_error', message: 'Try again later.' });
    await expect(openCheckout(api, developer, forever)).rejects.toThrow('503');
    const row = () => knex('checkouts').where({ developer_id: developer.developerId }).first('status');
    pass(59 * MINUTE);
    await reconcile();
    expect(await row()).toEqual({ status: 'open' });
    pass(11 * MINUTE);
    await reconcile();
    expect(await row()).toEqual({ status: 'expired' });
  });

  test('of a change of plan: it is looked up after 10 minutes, long before the period ends', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, monthly);
    await says.paid(sessionOf(opened));
    pass(11 * MINUTE);
    await reconcile();
    const { status } = await api.call(
      'PATCH',
      '/api/v2/dev/subscription',
      { plan_name: larger.plan_id },
      developer,
    );
    expect(status).toBe(200);
    expect(await planOf(developer)).toBe(monthly.plan_id);
    pass(11 * MINUTE);
    await reconcile();
    expect(await planOf(developer)).toBe(larger.plan_id);
    expect(await subscriptionOf(opened)).toMatchObject({ change_asked_at: null });
  });

  test('at a renewal: the plan continues, and the bill exists once', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, monthly);
    await says.paid(sessionOf(opened));
    pass(11 * MINUTE);
    await reconcile();
    expect(await planOf(developer)).toBe(monthly.plan_id);
    const { period_end: first } = await subscriptionOf(opened);
    pass(30 * DAY);
    await says.renewed(refOf(opened));
    await reconcile();
    expect(await invoicesOf(developer)).toHaveLength(1);
    pass(HOUR);
    await Promise.all(nodes.map((node) => node.services.reconciliation.run()));
    await reconcile();
    expect(await invoicesOf(developer)).toMatchObject([{ reason: 'first' }, { reason: 'renewal' }]);
    expect((await subscriptionOf(opened)).period_end - first).toBe(30 * DAY);
    expect(await planOf(developer)).toBe(monthly.plan_id);

    pass(30 * DAY);
    await says.subscriptionEnded(refOf(opened));
    pass(HOUR);
    await reconcile();
    expect(await subscriptionOf(opened)).toMatchObject({ state: 'ended' });
    expect(await planOf(developer)).toBe('free');
  });
});

test('the processor is unavailable for one of them: it is postponed, and does not delay the others', async () => {
  const buyers = [];
  for (let n = 0; n < 4; n += 1) {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, pack);
    await says.paid(sessionOf(opened));
    buyers.push({ developer, opened });
    pass(1);
  }
  const [away, unknown, ...others] = buyers.map(({ opened }) => opened);
  server.refuses = (_method, path) =>
    path.includes(sessionOf(away!)) ? new Refusal(503, { type: 'api_error', message: 'x' }) : undefined;
  const kept = server.world.things.get(sessionOf(unknown!))!;
  server.world.things.delete(sessionOf(unknown!));
  pass(11 * MINUTE);
  await expect(reconciliation.run()).rejects.toThrow('Stripe is unavailable');
  await reconcile();
  expect(await Promise.all(buyers.map(({ opened }) => statusOf(opened)))).toEqual([
    'open',
    'open',
    ...others.map(() => 'paid'),
  ]);
  server.refuses = () => undefined;
  server.world.things.set(sessionOf(unknown!), kept);
  await reconcile();
  expect(await statusOf(away!)).toBe('open');
  pass(11 * MINUTE);
  await reconcile();
  for (const { developer } of buyers) expect(await packsOf(developer)).toBe(100);
});

test('two processes at once: everything is settled once', async () => {
  const buyers = [];
  for (let n = 0; n < 15; n += 1) {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, n % 3 === 0 ? monthly : pack);
    await says.paid(sessionOf(opened));
    buyers.push({ developer, opened });
  }
  pass(11 * MINUTE);
  for (let turn = 0; turn < 4; turn += 1) {
    await Promise.all([...nodes, ...nodes].map((node) => node.services.reconciliation.run()));
  }
  for (const { developer, opened } of buyers) {
    expect(await statusOf(opened)).toBe('paid');
    expect(await invoicesOf(developer)).toHaveLength(1);
    if (opened.plan === pack) expect(await packsOf(developer)).toBe(100);
    else expect(await planOf(developer)).toBe(monthly.plan_id);
  }
});

describe('a subscription without effect is ended at the processor', () => {
  test('the older of two subscriptions without credit, once, even without its event', async () => {
    const developer = await newDeveloper(api);
    const older = await openCheckout(api, developer, monthly);
    const newer = await openCheckout(api, developer, larger);
    await says.paid(sessionOf(older));
    pass(11 * MINUTE);
    await reconcile();
    await says.paid(sessionOf(newer));
    pass(11 * MINUTE);
    await reconcile();
    expect(await planOf(developer)).toBe(larger.plan_id);
    pass(2 * MINUTE);
    await Promise.all(nodes.map((node) => node.services.planSubscriptions.endUnwanted()));
    expect(new Set(ended())).toEqual(
      new Set([`/v1/subscriptions/${refOf(older)}?prorate=false&invoice_now=false `]),
    );
    expect(await subscriptionOf(older)).toMatchObject({ state: 'ended', end_wanted: false });
    expect(await planOf(developer)).toBe(larger.plan_id);
    pass(2 * MINUTE);
    expect(await planSubscriptions.endUnwanted()).toBe(0);
  });

  test('one that was refunded', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, monthly);
    await says.paid(sessionOf(opened));
    pass(11 * MINUTE);
    await reconcile();
    const [{ payment_ref }] = (await invoicesOf(developer)) as [{ payment_ref: string }];
    for (const { body, headers } of await says.refunded(payment_ref, 1_900)) {
      await api.post(WEBHOOK, body.toString(), { headers: headers as Record<string, string> });
    }
    expect(await planOf(developer)).toBe('free');
    pass(2 * MINUTE);
    expect(await planSubscriptions.endUnwanted()).toBe(1);
    expect(ended()).toEqual([`/v1/subscriptions/${refOf(opened)}?prorate=false&invoice_now=false `]);
    expect(await subscriptionOf(opened)).toMatchObject({ state: 'ended', end_wanted: false });
    expect(await planSubscriptions.endUnwanted()).toBe(0);
  });

  test('but not one of another processor, and without delaying the others', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, monthly);
    await says.paid(sessionOf(opened));
    pass(11 * MINUTE);
    await reconcile();
    const where = { checkout_id: opened.sessionId };
    await knex('plan_subscriptions').where(where).update({ processor: 'test', end_wanted: true });
    pass(2 * MINUTE);
    expect(await planSubscriptions.endUnwanted()).toBe(0);
    expect(ended()).toEqual([]);
  });
});
