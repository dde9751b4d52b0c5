import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { newApp, newDeveloper, type App, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller, newResellerToken, type TestReseller } from '../support/resellers.ts';

type Sales = components['schemas']['ResellerStatisticsResult'];

const { api, clock } = await startTestService();
const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY).toISOString().slice(0, 10);
const get = ({ path }: Pick<TestReseller, 'path'>, token: string, query = '') =>
  api.call<Sales>('GET', `${path}/statistics${query}`, undefined, { token });
const refund = (token: string, licenseId: string) =>
  api.post(`/api/v2/dev/reseller/licenses/${licenseId}/refund`, undefined, { token });

/** Advances to another day, on which the developer logs in again. */
async function later(app: App, { email, password }: Developer): Promise<App> {
  clock.advance(DAY);
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  return { ...app, token: body.token };
}

test('of a reseller without sales: 30 days of zeros, even if other entries changed the balance', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 50, currency: 'JPY' });
  await api.post(`${reseller.path}/debits`, { amount: 20 }, app);
  const { status, body } = await get(reseller, app.token);
  const zeros = Array<number>(30).fill(0);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    reseller_id: reseller.reseller_id,
    currency: 'JPY',
    from: daysAgo(29),
    to: daysAgo(0),
    days: Array.from({ length: 30 }, (_, n) => daysAgo(29 - n)),
    totals: { keys_sold: 0, charged: 0, keys_refunded: 0, refunded: 0 },
    series: { keys_sold: zeros, charged: zeros, keys_refunded: zeros, refunded: zeros },
  });
});

test('keys, refunds and their net amounts by day', async () => {
  const developer = await newDeveloper(api);
  let app = await newApp(api, developer);
  const reseller = await newReseller(api, app, { balance: 500, price: 9.99, commission_margin: 12.5 });
  const other = await newReseller(api, app, { balance: 500 });
  const keys = await reseller.keys(10);
  await other.keys(3);
  app = await later(app, developer);
  const token = await newResellerToken(api, app, reseller.reseller_id);
  expect((await refund(token, keys[0]!.license_id)).status).toBe(200);
  app = await later(app, developer);
  await reseller.keys(2);
  await reseller.keys(1);
  expect((await refund(token, keys[1]!.license_id)).status).toBe(200);
  const { body } = await get(reseller, app.token, `?from=${daysAgo(3)}`);
  expect(body.days).toEqual([daysAgo(3), daysAgo(2), daysAgo(1), daysAgo(0)]);
  expect(body.series).toEqual({
    keys_sold: [0, 10, 0, 3],
    charged: [0, 87.5, 0, 26.25],
    keys_refunded: [0, 0, 1, 1],
    refunded: [0, 0, 8.75, 8.75],
  });
  expect(body.totals).toEqual({ keys_sold: 13, charged: 113.75, keys_refunded: 2, refunded: 17.5 });
  const earlier = await get(reseller, app.token, `?from=${daysAgo(2)}&to=${daysAgo(1)}`);
  expect(earlier.body.totals).toEqual({ keys_sold: 10, charged: 87.5, keys_refunded: 1, refunded: 8.75 });
});

test('a sale that failed is not counted', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 15 });
  await reseller.keys(1);
  expect((await reseller.buy()).body.code).toBe('INSUFFICIENT_BALANCE');
  const { body } = await get(reseller, app.token, `?from=${daysAgo(0)}`);
  expect(body.totals).toEqual({ keys_sold: 1, charged: 10, keys_refunded: 0, refunded: 0 });
});

test.each([
  ['?from=2026-11-02&to=2026-11-01', 'query/from'],
  ['?from=2999-01-01', 'query/from'],
  ['?from=2020-01-01', 'query/from'],
  ['?from=2025-02-29', 'query/from'],
  ['?to=tomorrow', 'query/to'],
  ['?interval=hour', 'query/interval'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const app = await newApp(api);
  expectFaults(await get(await newReseller(api, app, { price: null }), app.token, query), pointer);
});

test('RESELLER_NOT_FOUND for a foreign, deleted or absent reseller', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: null });
  const { token } = await newDeveloper(api);
  const foreign = await get(reseller, token);
  expectError(foreign, 404, 'RESELLER_NOT_FOUND');
  const absent = await get({ path: `/api/v2/dev/resellers/${ABSENT_RESELLER}` }, token);
  expect(comparable(absent)).toEqual(comparable(foreign));
  await api.call('DELETE', reseller.path, undefined, app);
  expectError(await get(reseller, app.token), 404, 'RESELLER_NOT_FOUND');
});

test('needs the scope auth:dev of a developer', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: null });
  expectError(await get(reseller, reseller.token), 401, 'UNAUTHORIZED');
});
