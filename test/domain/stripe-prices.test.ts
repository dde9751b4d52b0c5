import { describe, expect, test } from 'vitest';
import { startStripeAlone } from '../conformance/support/stripe-harness.ts';
import { Refusal } from '../conformance/support/stripe-routes.ts';
import { sessionOf } from '../concurrency/stripe-processes.ts';
import { expectError, expectFaults } from '../operations/support/errors.ts';
import { ADMINISTRATOR, invoicesOf, openCheckout, sellPlan } from '../support/billing.ts';
import { TestClock } from '../support/clock.ts';
import { newDeveloper, unique } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const clocks: TestClock[] = [];
const { server, settings, says } = await startStripeAlone({ now: () => clocks[0]?.now() ?? new Date() });
const { api, clock, database } = await startTestService({
  STRIPE_SECRET_KEY: settings.secretKey,
  STRIPE_WEBHOOK_SECRET: settings.webhookSecrets.join(','),
  STRIPE_API_URL: settings.apiUrl!,
});
clocks.push(clock);
const { api: embedded } = await startTestService();

const plans = '/api/v2/admin/plans';
const create = (currency: string, price: number) =>
  api.post(
    plans,
    { name: unique('Pro'), price, currency, period: 'monthly', max_apps: 10, max_users_per_app: 10 },
    ADMINISTRATOR,
  );
const change = (planId: string, changes: object) =>
  api.call('PATCH', `${plans}/${planId}`, changes, ADMINISTRATOR);
/** A price from before Stripe processed the payments. */
const standing = async (planId: string, price_minor: number) =>
  database.knex('plans').where({ plan_id: planId }).update({ price_minor });

describe('prices that Stripe does not accept', () => {
  test.each(['BHD', 'JOD', 'KWD', 'OMR', 'TND', 'LYD'])(
    'a plan in %s cannot have a price with three decimals',
    async (currency) => {
      const refused = await create(currency, 1.255);
      expectFaults(refused, '/price');
      expect(refused.body['detail']).toBe(
        `/price must be an amount that Stripe takes: a multiple of 0.01 ${currency}.`,
      );
      const { status, body } = await create(currency, 1.25);
      expect(status).toBe(201);
      expectFaults(await change(body['plan_id'] as string, { price: 3.001 }), '/price');
      expect(await change(body['plan_id'] as string, { price: 3 })).toMatchObject({ status: 200 });
    },
  );

  test('an existing plan with such a price is not sold, but can be changed and archived', async () => {
    const plan = await sellPlan(api, { currency: 'KWD', price: 1.25 });
    await standing(plan.plan_id, 1_255);
    const developer = await newDeveloper(api);
    const buying = () => api.post('/api/v1/checkout', { plan_name: plan.plan_id }, developer);
    expectError(await buying(), 400, 'PLAN_NOT_APPLICABLE');
    expect(await database.knex('checkouts').where({ plan_id: plan.plan_id })).toEqual([]);
    expect((await change(plan.plan_id, { max_apps: 11 })).body).toMatchObject({ price: 1.255, max_apps: 11 });
    expect((await change(plan.plan_id, { price: 1.26 })).status).toBe(200);
    expect((await buying()).status).toBe(200);
  });

  test('no subscription can change to a plan with such a price, and no such amount can be refunded', async () => {
    const plan = await sellPlan(api, { currency: 'KWD', price: 1.25 });
    const other = await sellPlan(api, { currency: 'KWD', price: 2.5 });
    await standing(other.plan_id, 2_505);
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, plan);
    for (const event of await says.paid(sessionOf(opened))) {
      const headers = event.headers as Record<string, string>;
      await api.post('/api/v2/payments/webhook', event.body.toString(), { headers });
    }
    const move = await api.call('PATCH', '/api/v2/dev/subscription', { plan_name: other.plan_id }, developer);
    expectError(move, 400, 'PLAN_NOT_APPLICABLE');
    const [invoice] = await invoicesOf(api, developer);
    const refund = (amount: number) =>
      api.post(`/api/v2/admin/invoices/${invoice!.invoice_id}/refunds`, { amount }, ADMINISTRATOR);
    expectFaults(await refund(0.255), '/amount');
    expect((await refund(0.25)).status).toBe(200);
    // The remainder is such an amount.
    await database
      .knex('invoices')
      .where({ invoice_id: invoice!.invoice_id })
      .update({ amount_minor: 1_255 });
    const rest = await api.post(`/api/v2/admin/invoices/${invoice!.invoice_id}/refunds`, {}, ADMINISTRATOR);
    expectError(rest, 409, 'INVOICE_NOT_REFUNDABLE');
  });

  test.each([
    { code: 'amount_too_small' },
    { code: 'amount_too_large' },
    { param: 'currency' },
    { param: 'line_items[0][price_data][currency]' },
  ])('%o is a refusal, not an outage', async (fault) => {
    const plan = await sellPlan(api, { price: 0.01 });
    const developer = await newDeveloper(api);
    server.refuses = () => new Refusal(400, { type: 'invalid_request_error', message: 'No.', ...fault });
    const response = await api.post('/api/v1/checkout', { plan_name: plan.plan_id }, developer);
    server.refuses = () => undefined;
    expectError(response, 400, 'PLAN_NOT_APPLICABLE');
  });
});

test('the test processor accepts every amount', async () => {
  const plan = await sellPlan(embedded, { currency: 'KWD', price: 1.255 });
  const opened = await openCheckout(embedded, await newDeveloper(embedded), plan);
  expect(opened.plan.price).toBe(1.255);
});
