import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

const { api } = await startTestService();
const app = await newApp(api);
const debit = (id: string, body: unknown, token: string = app.token, headers: Record<string, string> = {}) =>
  api.post<components['schemas']['LedgerEntryResult']>(`/api/v2/dev/resellers/${id}/debits`, body, {
    token,
    headers,
  });

test('reduces the balance, down to 0', async () => {
  const reseller = await newReseller(api, app, { balance: 10 });
  const first = await debit(reseller.reseller_id, { amount: 9.99, note: 'Paid out' });
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject({ kind: 'debit', amount: -9.99, balance: 0.01, note: 'Paid out' });
  expect((await debit(reseller.reseller_id, { amount: 0.01 })).body).toMatchObject({ balance: 0 });
  expect(await reseller.balance()).toBe(0);
});

test('INSUFFICIENT_BALANCE for more than the balance, and nothing changes', async () => {
  const reseller = await newReseller(api, app, { balance: 10 });
  const response = await debit(reseller.reseller_id, { amount: 10.01 });
  expectError(response, 409, 'INSUFFICIENT_BALANCE');
  expect((response.body as { detail?: string }).detail).toBe('The balance is 10.00 USD.');
  expect(await reseller.balance()).toBe(10);
  const ledger = await api.call('GET', `${reseller.path}/ledger`, undefined, app);
  expect(ledger.body['data']).toHaveLength(1);
});

test.each([0, -1, 0.001, 1e13, 2 ** 53, '1', null, undefined])(
  'VALIDATION_FAILED for an amount of %j',
  async (amount) => {
    const reseller = await newReseller(api, app, { balance: 10, price: null });
    expectFaults(await debit(reseller.reseller_id, { amount }), '/amount');
    expect(await reseller.balance()).toBe(10);
  },
);

test('an Idempotency-Key debits once', async () => {
  const reseller = await newReseller(api, app, { balance: 10 });
  const key = { 'idempotency-key': 'one-debit' };
  for (let turn = 0; turn < 3; turn += 1) {
    expect((await debit(reseller.reseller_id, { amount: 6 }, app.token, key)).status).toBe(201);
  }
  expect(await reseller.balance()).toBe(4);
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const reseller = await newReseller(api, app, { balance: 1 });
  const { token } = await newDeveloper(api);
  const absent = await debit(ABSENT_RESELLER, { amount: 1 }, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  for (const amount of [1, 2, 0.001]) {
    expect(comparable(await debit(reseller.reseller_id, { amount }, token))).toEqual(comparable(absent));
  }
  expect(await reseller.balance()).toBe(1);
});
