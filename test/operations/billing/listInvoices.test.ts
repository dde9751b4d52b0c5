import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  billed,
  buy,
  disputed,
  invoicesOf,
  openCheckout,
  paid,
  refunded,
  sellPlan,
  subscribed,
} from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { newApiToken } from '../support/tokens.ts';

const service = await startTestService();
const { api, clock } = service;
const { settlement } = service.services;
const once = await sellPlan(api, { period: 'lifetime', price: 1500, currency: 'JPY' });
const monthly = await sellPlan(api);

const list = ({ token }: { readonly token?: string }, query = '') =>
  api.call<components['schemas']['InvoiceList']>('GET', `/api/v2/dev/invoices${query}`, undefined, { token });
const days = (count: number) => new Date(inDays(clock, count));

test('is empty before the first payment, even with an open checkout', async () => {
  const developer = await newDeveloper(api);
  await openCheckout(api, developer, once);
  expect((await list(developer)).body).toEqual({ status: 'success', data: [], next_cursor: null });
});

test('shows single and monthly payments', async () => {
  const developer = await newDeveloper(api);
  const [first, second] = [await buy(api, developer, once), await buy(api, developer, monthly)];
  await untilPaymentEventsProcessed(service);
  const { data } = (await list(developer)).body;
  const common = {
    invoice_id: expect.stringMatching(/^inv_[0-9a-z]{26}$/) as string,
    developer_id: developer.developerId,
    state: 'paid',
    refunded: 0,
    subscription_id: expect.stringMatching(/^sub_/) as string,
    receipt_url: expect.stringMatching(
      /^http:\/\/127\.0\.0\.1:\d+\/pay\/cs_test_[\w-]{32}\/receipt$/,
    ) as string,
    created_at: clock.now().toISOString(),
  };
  expect(data).toEqual([
    {
      ...common,
      number: expect.any(String) as string,
      plan_id: monthly.plan_id,
      checkout_id: second.sessionId,
      amount: 19,
      currency: 'USD',
      period_start: clock.now().toISOString(),
      period_end: expect.any(String) as string,
    },
    {
      ...common,
      number: null,
      plan_id: once.plan_id,
      checkout_id: first.sessionId,
      amount: 1500,
      currency: 'JPY',
      period_start: null,
      period_end: null,
    },
  ]);
  expect((await fetch(data[0]!.receipt_url!)).status).toBe(200);
});

test('shows refunds, disputes, and unpaid renewals', async () => {
  const developer = await newDeveloper(api);
  const opened = await openCheckout(api, developer, monthly);
  const state = async () => (await invoicesOf(api, developer)).map((each) => [each.state, each.refunded]);
  const settle = (...facts: Parameters<typeof settlement.settle>[0]) => settlement.settle(facts, '127.0.0.1');
  await settle(paid(opened), billed(opened, clock.now(), days(30)));
  expect(await state()).toEqual([['paid', 0]]);
  await settle(refunded(opened, 700));
  expect(await state()).toEqual([['partially_refunded', 7]]);
  await settle(disputed(opened, 'open', clock.now()));
  expect(await state()).toEqual([['disputed', 7]]);
  await settle(disputed(opened, 'won', days(1)));
  expect(await state()).toEqual([['partially_refunded', 7]]);
  const renewal = { invoiceRef: 'in_2', paymentRef: null, reason: 'renewal' } as const;
  await settle(
    subscribed(opened, days(30), days(60), { state: 'past_due' }),
    billed(opened, days(30), days(60), { ...renewal, state: 'failed' }),
  );
  expect(await state()).toEqual([
    ['failed', 0],
    ['partially_refunded', 7],
  ]);
  await settle(billed(opened, days(30), days(60), { ...renewal, paymentRef: 'pi_2' }));
  await settle(refunded(opened, 1900));
  expect(await state()).toEqual([
    ['paid', 0],
    ['refunded', 19],
  ]);
});

test('pages', async () => {
  const developer = await newDeveloper(api);
  const other = await newDeveloper(api);
  for (let n = 0; n < 3; n += 1) {
    for (const payer of [developer, other]) {
      const opened = await openCheckout(api, payer, await sellPlan(api, { period: 'lifetime' }));
      await settlement.settle([paid(opened)], '127.0.0.1');
    }
  }
  const whole = (await list(developer)).body.data;
  expect(whole).toHaveLength(3);
  expect(new Set(whole.map(({ developer_id }) => developer_id))).toEqual(new Set([developer.developerId]));
  const first = (await list(developer, '?limit=2')).body;
  const second = (await list(developer, `?limit=2&cursor=${first.next_cursor}`)).body;
  expect([...first.data, ...second.data]).toEqual(whole);
  expect(second.next_cursor).toBeNull();
  // A cursor is a position, and does not select the developer.
  const foreign = (await list(other, `?cursor=${first.next_cursor}`)).body.data;
  expect(new Set(foreign.map(({ developer_id }) => developer_id))).toEqual(new Set([other.developerId]));
});

test('VALIDATION_FAILED for invalid pages', async () => {
  const developer = await newDeveloper(api);
  for (const limit of ['0', '101', '1.5', 'x', '']) {
    expectFaults(await list(developer, `?limit=${limit}`), 'query/limit');
  }
  for (const cursor of ['x', 'inv_1', '%00']) {
    expectError(await list(developer, `?cursor=${cursor}`), 400, 'VALIDATION_FAILED');
  }
  expectError(await list(developer, '?developer_id=dev_x'), 400, 'VALIDATION_FAILED');
});

test('UNAUTHORIZED and INSUFFICIENT_SCOPE', async () => {
  const developer = await newDeveloper(api);
  expectError(await list({}), 401, 'UNAUTHORIZED');
  expectError(await list(ADMINISTRATOR), 401, 'UNAUTHORIZED');
  expectError(await list(await newApiToken(api, developer, ['write'])), 403, 'INSUFFICIENT_SCOPE');
  expect((await list(await newApiToken(api, developer, ['read']))).status).toBe(200);
});
