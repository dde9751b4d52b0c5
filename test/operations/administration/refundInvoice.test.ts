import { describe, expect, test } from 'vitest';
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
  sellPlan,
} from '../../support/billing.ts';
import { newApp, newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { newReseller } from '../support/resellers.ts';
import { auditLog } from '../support/tokens.ts';

type Schemas = components['schemas'];

const service = await startTestService();
const { api, clock, database } = service;
const plan = await sellPlan(api, { period: 'lifetime' });

const refund = (
  invoiceId: string,
  body: unknown = {},
  headers: Record<string, string> = {},
  token: string | undefined = ADMINISTRATOR.token,
) =>
  api.post<Schemas['InvoiceResult'] & { detail?: string }>(
    `/api/v2/admin/invoices/${invoiceId}/refunds`,
    body,
    { token, headers },
  );

/** A developer who has bought a plan, and its invoice. */
async function customer(
  what = plan,
  more: Partial<Schemas['CreateCheckoutRequest']> = {},
  given = newDeveloper(api),
) {
  const developer = await given;
  const { invoice } = await buy(api, developer, what, 'pays', more);
  await untilPaymentEventsProcessed(service);
  return {
    developer,
    id: invoice.invoice_id,
    invoice: async () => {
      await untilPaymentEventsProcessed(service);
      return (await invoicesOf(api, developer)).find(({ invoice_id }) => invoice_id === invoice.invoice_id)!;
    },
    me: async () =>
      (await api.call<Schemas['DeveloperResult']>('GET', '/api/v2/dev/me', undefined, developer)).body,
  };
}

test('refunds the remaining amount, and takes back what was bought', async () => {
  const { id, invoice, me } = await customer();
  expect((await me()).plan.id).toBe(plan.plan_id);
  const { status, body } = await refund(id);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'success', invoice_id: id, amount: 19 });
  expect(await invoice()).toMatchObject({ state: 'refunded', amount: 19, refunded: 19 });
  expect((await me()).plan.id).toBe('free');
});

test('refunds parts: the plan stays until the whole amount is refunded', async () => {
  const { id, invoice, me } = await customer();
  expect((await refund(id, { amount: 0.01 })).status).toBe(200);
  expect(await invoice()).toMatchObject({ state: 'partially_refunded', refunded: 0.01 });
  expect((await refund(id, { amount: 18.98 })).status).toBe(200);
  expect(await invoice()).toMatchObject({ state: 'partially_refunded', refunded: 18.99 });
  expect((await me()).plan.id).toBe(plan.plan_id);
  const tooMuch = await refund(id, { amount: 0.02 });
  expectError(tooMuch, 409, 'INVOICE_NOT_REFUNDABLE');
  expect(tooMuch.body.detail).toContain('0.01 USD');
  expect((await refund(id)).status).toBe(200);
  expect(await invoice()).toMatchObject({ state: 'refunded', refunded: 19 });
  expect((await me()).plan.id).toBe('free');
});

test('takes back the same part of a pack: license keys, and balance', async () => {
  const keys = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', licenses: 10, price: 10 });
  const developer = await newDeveloper(api);
  const limited = await sellPlan(api, { period: 'lifetime', max_licenses: 5 });
  await customer(limited, {}, Promise.resolve(developer));
  const pack = await customer(keys, {}, Promise.resolve(developer));
  expect((await pack.me()).quotas).toMatchObject({ licenses: { limit: 15 } });
  await refund(pack.id, { amount: 2.55 });
  await pack.invoice();
  // A little more than a quarter: a key that is partly paid is not taken back.
  expect((await pack.me()).quotas).toMatchObject({ licenses: { limit: 13 } });

  const money = await sellPlan(api, {
    kind: 'reseller_balance',
    period: 'lifetime',
    balance: 100,
    price: 80,
  });
  const reseller = await newReseller(api, await newApp(api, developer));
  const top = await customer(money, { reseller_id: reseller.reseller_id }, Promise.resolve(developer));
  expect(await reseller.balance()).toBe(100);
  await refund(top.id, { amount: 20 });
  await top.invoice();
  expect(await reseller.balance()).toBe(75);
});

describe('twice', () => {
  test('with one Idempotency-Key refunds once, with the same response', async () => {
    const { id, invoice } = await customer();
    const key = { 'idempotency-key': unique('key') };
    const [first, second] = [await refund(id, { amount: 5 }, key), await refund(id, { amount: 5 }, key)];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await invoice()).toMatchObject({ refunded: 5 });
    expectError(await refund(id, { amount: 6 }, key), 422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await invoice()).toMatchObject({ refunded: 5 });
  });

  test('with two keys, or without any after the first is known, refunds twice', async () => {
    const { id, invoice } = await customer();
    for (const key of [unique('key'), unique('key')])
      expect((await refund(id, { amount: 5 }, { 'idempotency-key': key })).status).toBe(200);
    expect(await invoice()).toMatchObject({ refunded: 10 });
    expect((await refund(id, { amount: 5 })).status).toBe(200);
    expect(await invoice()).toMatchObject({ refunded: 15 });
  });

  test('the whole amount: the second time nothing is left', async () => {
    const { id, invoice } = await customer();
    expect((await refund(id)).status).toBe(200);
    await invoice();
    expectError(await refund(id), 409, 'INVOICE_NOT_REFUNDABLE');
    expectError(await refund(id, { amount: 0.01 }), 409, 'INVOICE_NOT_REFUNDABLE');
    expect(await invoice()).toMatchObject({ refunded: 19 });
  });

  test('concurrent requests never refund more than was paid', async () => {
    const { id, invoice } = await customer();
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => refund(id, { amount: 4 }, { 'idempotency-key': unique('key') })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
    for (const response of responses.filter(({ status }) => status !== 200))
      expectError(response, 409, 'INVOICE_NOT_REFUNDABLE');
    expect(await invoice()).toMatchObject({ refunded: 16 });
  });
});

describe('INVOICE_NOT_REFUNDABLE', () => {
  const { settlement } = service.services;

  test('for more than was paid', async () => {
    const { id, invoice, developer } = await customer();
    for (const amount of [19.01, 20, 999_999_999_999]) {
      expectError(await refund(id, { amount }), 409, 'INVOICE_NOT_REFUNDABLE');
    }
    expect(await invoice()).toMatchObject({ state: 'paid', refunded: 0 });
    expect(await auditLog(api, developer, '&action=invoice.refunded')).toEqual([]);
  });

  test('for an unpaid invoice', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, await sellPlan(api));
    const end = new Date(inDays(clock, 30));
    await settlement.settle(
      [billed(opened, clock.now(), end, { state: 'failed', paymentRef: null })],
      '127.0.0.1',
    );
    const [failed] = await invoicesOf(api, developer);
    expect(failed).toMatchObject({ state: 'failed' });
    expectError(await refund(failed!.invoice_id), 409, 'INVOICE_NOT_REFUNDABLE');
  });

  test('for one that is disputed', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, plan);
    await settlement.settle([paid(opened), disputed(opened, 'open', clock.now())], '127.0.0.1');
    const [invoice] = await invoicesOf(api, developer);
    expect(invoice).toMatchObject({ state: 'disputed' });
    expectError(await refund(invoice!.invoice_id), 409, 'INVOICE_NOT_REFUNDABLE');
    await settlement.settle([disputed(opened, 'lost', new Date(inDays(clock, 1)))], '127.0.0.1');
    expectError(await refund(invoice!.invoice_id, { amount: 1 }), 409, 'INVOICE_NOT_REFUNDABLE');
  });

  test('for a payment that the processor does not know', async () => {
    const developer = await newDeveloper(api);
    const opened = await openCheckout(api, developer, plan);
    await settlement.settle([paid(opened)], '127.0.0.1');
    const [invoice] = await invoicesOf(api, developer);
    expectError(await refund(invoice!.invoice_id), 409, 'INVOICE_NOT_REFUNDABLE');
  });
});

describe('VALIDATION_FAILED', async () => {
  const yen = await sellPlan(api, { period: 'lifetime', currency: 'JPY', price: 1500 });

  test('for an unknown member: a misspelled amount would refund everything', async () => {
    const { id, invoice } = await customer();
    for (const body of [{ ammount: 5 }, { reason: 'x' }, { amount: 5, note: 'x' }]) {
      expect((await refund(id, body)).status).toBe(400);
    }
    expect(await invoice()).toMatchObject({ state: 'paid', refunded: 0 });
  });

  test('for an amount that the currency cannot hold, and for zero', async () => {
    const { id, invoice } = await customer();
    for (const amount of [0, 0.001, 18.999, -1, 1e21, 1e-7, '5', null, true])
      expectFaults(await refund(id, { amount }), '/amount');
    expect(await invoice()).toMatchObject({ refunded: 0 });
    const inYen = await customer(yen);
    expectFaults(await refund(inYen.id, { amount: 1.5 }), '/amount');
    expect((await refund(inYen.id, { amount: 1499 })).status).toBe(200);
    expect(await inYen.invoice()).toMatchObject({ state: 'partially_refunded', refunded: 1499 });
  });
});

test('INVOICE_NOT_FOUND for an absent one', async () => {
  for (const id of ['inv_01kazmj7w8x9y0z1a2b3c4d5e6', 'x', '%25'])
    expectError(await refund(id), 404, 'INVOICE_NOT_FOUND');
});

test("is in the payer's audit log, without a secret", async () => {
  const { id, developer } = await customer();
  await refund(id, { amount: 4.5 });
  await untilPaymentEventsProcessed(service);
  const entries = await auditLog(api, developer, '&action=invoice.refunded');
  expect(entries).toMatchObject([
    {
      target: id,
      actor: { kind: 'administrator', id: 'administrator' },
      data: { amount_minor: 450, currency: 'USD' },
    },
  ]);
  const rows = JSON.stringify(
    await database.knex('audit_log').where({ developer_id: developer.developerId }),
  );
  for (const secret of [ADMINISTRATOR.token, developer.token, 'cs_test_', 'pi_test_'])
    expect(rows).not.toContain(secret);
});

test('UNAUTHORIZED for every other caller, the payer too', async () => {
  const { id, invoice, developer } = await customer();
  expectError(await refund(id, {}, {}, developer.token), 401, 'UNAUTHORIZED');
  expectError(await refund(id, {}, {}, 'nonsense'), 401, 'UNAUTHORIZED');
  expect(await invoice()).toMatchObject({ state: 'paid', refunded: 0 });
});
