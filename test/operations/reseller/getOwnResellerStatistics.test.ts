import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newReseller } from '../support/resellers.ts';

type Sales = components['schemas']['ResellerStatisticsResult'];

const { api } = await startTestService();
const app = await newApp(api);
const get = (token: string, query = '') =>
  api.call<Sales>('GET', `/api/v2/dev/reseller/statistics${query}`, undefined, { token });

test('equals what the developer sees, without the sales of others', async () => {
  const reseller = await newReseller(api, app, { balance: 100, commission_margin: 10 });
  const other = await newReseller(api, app, { balance: 100 });
  await reseller.keys(3);
  await other.keys(5);
  const { status, body } = await get(reseller.token);
  expect(status).toBe(200);
  expect(body.totals).toEqual({ keys_sold: 3, charged: 27, keys_refunded: 0, refunded: 0 });
  const seen = await api.call<Sales>('GET', `${reseller.path}/statistics`, undefined, app);
  expect(body).toEqual(seen.body);
});

test('works for a suspended reseller', async () => {
  const reseller = await newReseller(api, app, { balance: 10 });
  await reseller.keys(1);
  await reseller.patch({ suspended: true });
  expect((await get(reseller.token)).body.totals.keys_sold).toBe(1);
});

test.each([
  ['?from=2999-01-01', 'query/from'],
  ['?reseller_id=x', 'query/reseller_id'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const { token } = await newReseller(api, app, { price: null });
  expectFaults(await get(token, query), pointer);
});

test("UNAUTHORIZED with the developer's token", async () => {
  expectError(await get(app.token), 401, 'UNAUTHORIZED');
});
