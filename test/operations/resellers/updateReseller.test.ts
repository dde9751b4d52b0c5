import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

const { api } = await startTestService();
const app = await newApp(api);
const update = (id: string, body: unknown, token: string = app.token) =>
  api.call<components['schemas']['ResellerResult']>('PATCH', `/api/v2/dev/resellers/${id}`, body, { token });

test('changes what is sent, and nothing else', async () => {
  const { reseller_id } = await newReseller(api, app, { balance: 5, commission_margin: 10 });
  const before = { reseller_id, currency: 'USD', balance: 5, commission_margin: 10, suspended: false };
  const renamed = await update(reseller_id, { name: 'Renamed' });
  expect(renamed.status).toBe(200);
  expect(renamed.body).toMatchObject({ ...before, name: 'Renamed' });
  const margin = await update(reseller_id, { commission_margin: 12.34 });
  expect(margin.body).toMatchObject({ ...before, name: 'Renamed', commission_margin: 12.34 });
  const suspended = await update(reseller_id, { suspended: true });
  expect(suspended.body).toMatchObject({ name: 'Renamed', commission_margin: 12.34, suspended: true });
  expect((await update(reseller_id, { suspended: true })).body).toEqual(suspended.body);
  expect((await update(reseller_id, { suspended: false, commission_margin: 0 })).body).toMatchObject({
    commission_margin: 0,
    suspended: false,
  });
});

test('balance, currency and identifiers in the request change nothing', async () => {
  const { reseller_id } = await newReseller(api, app, { balance: 5 });
  const injected = {
    balance: 9999,
    balance_minor: 9999,
    currency: 'JPY',
    developer_id: 'x',
    reseller_id: 'x',
  };
  const { status, body } = await update(reseller_id, injected);
  expect(status).toBe(200);
  expect(body).toMatchObject({ reseller_id, balance: 5, currency: 'USD' });
});

test('a commission applies to keys that are generated afterwards', async () => {
  const reseller = await newReseller(api, app, { balance: 100, price: 10 });
  expect((await reseller.buy()).body.cost).toBe(10);
  await reseller.patch({ commission_margin: 33.33 });
  expect((await reseller.buy()).body).toMatchObject({ cost: 6.67, balance: 83.33 });
});

test('a suspended reseller can read but not write; their keys work', async () => {
  const reseller = await newReseller(api, app, { balance: 100 });
  const [key] = await reseller.keys(1);
  await reseller.patch({ suspended: true });
  expectError(await reseller.buy(), 403, 'RESELLER_SUSPENDED');
  const refund = `/api/v2/dev/reseller/licenses/${key!.license_id}/refund`;
  expectError(await api.post(refund, undefined, reseller), 403, 'RESELLER_SUSPENDED');
  const reset = '/api/v2/dev/reseller/users/usr_01kazm6t0hfa8bk4n2q7r9s1vx/reset-hwid';
  expectError(await api.post(reset, undefined, reseller), 403, 'RESELLER_SUSPENDED');
  expect(await reseller.balance()).toBe(90);
  for (const place of ['licenses', 'ledger', 'users']) {
    expect((await api.call('GET', `/api/v2/dev/reseller/${place}`, undefined, reseller)).status).toBe(200);
  }
  const register = { username: 'ada', password: 'a user password', hwid: 'machine' };
  const response = await api.register(app.with({ ...register, license_key: key!.license_key }));
  expect(response.status).toBe(201);
  await reseller.patch({ suspended: false });
  expect((await reseller.buy()).status).toBe(201);
});

describe('VALIDATION_FAILED', async () => {
  const { reseller_id } = await newReseller(api, app);

  test.each<[string, unknown[]]>([
    ['name', ['', 'n'.repeat(101), null, 1]],
    ['commission_margin', [-1, 100.01, 0.001, '1', null]],
    ['suspended', ['true', 1, null]],
  ])('for %s', async (member, values) => {
    for (const value of values) expectFaults(await update(reseller_id, { [member]: value }), `/${member}`);
  });

  test('for an empty change', async () => expectFaults(await update(reseller_id, {}), ''));
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const { reseller_id } = await newReseller(api, app);
  const { token } = await newDeveloper(api);
  const absent = await update(ABSENT_RESELLER, { suspended: true }, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  // Checked before the body.
  for (const body of [{ suspended: true }, { commission_margin: 0.001 }]) {
    expect(comparable(await update(reseller_id, body, token))).toEqual(comparable(absent));
  }
});
