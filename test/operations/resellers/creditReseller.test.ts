import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

type Schemas = components['schemas'];

const { api, clock } = await startTestService();
const app = await newApp(api);
const credit = (id: string, body: unknown, token: string = app.token, headers: Record<string, string> = {}) =>
  api.post<Schemas['LedgerEntryResult']>(`/api/v2/dev/resellers/${id}/credits`, body, { token, headers });

test('adds to the balance and writes an entry', async () => {
  const reseller = await newReseller(api, app);
  const note = ' Transfer “20 November” 🦊\n2nd line ';
  const { status, body } = await credit(reseller.reseller_id, { amount: 0.07, note });
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    entry_id: expect.stringMatching(/^led_[0-9a-z]{26}$/),
    kind: 'credit',
    amount: 0.07,
    balance: 0.07,
    licenses: 0,
    app_id: null,
    tier: null,
    duration_days: null,
    lifetime: false,
    reference: null,
    note,
    created_at: clock.now().toISOString(),
  });
  // A sum in floating point would be 0.36000000000000004.
  expect((await credit(reseller.reseller_id, { amount: 0.29 })).body).toMatchObject({
    balance: 0.36,
    note: null,
  });
  expect(await reseller.balance()).toBe(0.36);
});

test.each([
  ['JPY', 1],
  ['JPY', 999_999_999_999_999],
  ['USD', 0.01],
  ['USD', 9_999_999_999_999.99],
  ['KWD', 0.001],
])('of %s: %d is held exactly', async (currency, amount) => {
  const reseller = await newReseller(api, app, { currency, price: null });
  expect((await credit(reseller.reseller_id, { amount })).body).toMatchObject({ amount, balance: amount });
  expect(await reseller.balance()).toBe(amount);
});

describe('VALIDATION_FAILED', async () => {
  const reseller = await newReseller(api, app, { balance: 5 });

  test.each([0, -0.01, -5, 0.001, 1.005, 1e-7, 1e13, 2 ** 53, 1e300, '5', null, undefined, true, [5]])(
    'for an amount of %j',
    async (amount) => {
      expectFaults(await credit(reseller.reseller_id, { amount }), '/amount');
      expect(await reseller.balance()).toBe(5);
    },
  );

  test.each(['1e400', '-1e400', '-0', '-0.0', '0e0', '1e-400'])('for an amount of %s', async (number) => {
    expectFaults(await credit(reseller.reseller_id, `{"amount":${number}}`), '/amount');
    expect(await reseller.balance()).toBe(5);
  });

  test.each(['NaN', 'Infinity', '01', '+1', '.5', '1_000'])(
    'for %s, which is not a JSON number',
    async (text) => {
      expectError(await credit(reseller.reseller_id, `{"amount":${text}}`), 400, 'MALFORMED_JSON');
    },
  );

  test.each(['n'.repeat(501), 'a\u0000b', 1, {}])('for a note of %j', async (note) => {
    expectFaults(await credit(reseller.reseller_id, { amount: 1, note }), '/note');
    expect(await reseller.balance()).toBe(5);
  });

  test('for a balance of more than 15 digits', async () => {
    const full = await newReseller(api, app);
    await credit(full.reseller_id, { amount: 9_999_999_999_999 });
    expectFaults(await credit(full.reseller_id, { amount: 1 }), '/amount');
    expect((await credit(full.reseller_id, { amount: 0.99 })).status).toBe(201);
    expectFaults(await credit(full.reseller_id, { amount: 0.01 }), '/amount');
    expect(await full.balance()).toBe(9_999_999_999_999.99);
  });
});

test('an Idempotency-Key credits once', async () => {
  const reseller = await newReseller(api, app);
  const key = { 'idempotency-key': 'one-credit' };
  const [first, second] = [
    await credit(reseller.reseller_id, { amount: 5 }, app.token, key),
    await credit(reseller.reseller_id, { amount: 5 }, app.token, key),
  ];
  expect(second.body).toEqual(first.body);
  expect(await reseller.balance()).toBe(5);
  const other = await credit(reseller.reseller_id, { amount: 6 }, app.token, key);
  expectError(other, 422, 'IDEMPOTENCY_KEY_REUSED');
  expect(await reseller.balance()).toBe(5);
});

test('a failed request can be repeated with its Idempotency-Key', async () => {
  const reseller = await newReseller(api, app);
  const key = { 'idempotency-key': 'bad-credit' };
  expectFaults(await credit(reseller.reseller_id, { amount: 0.001 }, app.token, key), '/amount');
  expect((await credit(reseller.reseller_id, { amount: 1 }, app.token, key)).status).toBe(201);
});

test('is in the audit log, with the balance after it', async () => {
  const { reseller_id } = await newReseller(api, app);
  const { body } = await credit(reseller_id, { amount: 5.5, note: 'a note of ours' });
  const log = await api.call<Schemas['AuditEntryList']>(
    'GET',
    `/api/v2/dev/audit-log?target=${reseller_id}&action=reseller.credited`,
    undefined,
    app,
  );
  expect(log.body.data).toMatchObject([
    {
      app_id: null,
      data: { entry_id: body.entry_id, amount: 5.5, balance: 5.5, currency: 'USD' },
    },
  ]);
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const reseller = await newReseller(api, app);
  const { token } = await newDeveloper(api);
  const absent = await credit(ABSENT_RESELLER, { amount: 1 }, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  for (const amount of [1, 0.001]) {
    const foreign = await credit(reseller.reseller_id, { amount }, token);
    expect(comparable(foreign)).toEqual(comparable(absent));
  }
  expect(await reseller.balance()).toBe(0);
});

test('a reseller cannot credit their own balance', async () => {
  const reseller = await newReseller(api, app);
  const response = await credit(reseller.reseller_id, { amount: 1 }, reseller.token);
  expectError(response, 401, 'UNAUTHORIZED');
});
