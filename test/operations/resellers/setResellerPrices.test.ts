import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

type Prices = components['schemas']['ResellerPriceList'];

const { api } = await startTestService();
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const other = await newApp(api, developer);
const reseller = await newReseller(api, app, { price: null, commission_margin: 12.5 });

const set = (prices: unknown, token: string = app.token, id: string = reseller.reseller_id) =>
  api.call<Prices>('PUT', `/api/v2/dev/resellers/${id}/prices`, { prices }, { token });
const list = async () => (await api.call<Prices>('GET', `${reseller.path}/prices`, undefined, app)).body.data;
const price = (fields: object = {}) => ({
  app_id: app.app_id,
  tier: 'Pro',
  duration_days: 30,
  price: 9.99,
  ...fields,
});

test('sets the whole list, by application, rank of the tier and duration', async () => {
  const wanted = [
    price({ app_id: other.app_id, tier: 'VIP', duration_days: null, price: 0 }),
    price({ tier: 'VIP', duration_days: 1, price: 0.01 }),
    price({ duration_days: null, price: 99 }),
    price({ duration_days: 7, price: 2 }),
    price(),
    price({ tier: 'Standard', price: 9_999_999_999_999.99 }),
  ];
  const { status, body } = await set(wanted);
  expect(status).toBe(200);
  expect(body.data.map((row) => [row.app_id, row.tier, row.duration_days, row.price, row.cost])).toEqual([
    [app.app_id, 'Standard', 30, 9_999_999_999_999.99, 8_749_999_999_999.99 + 0.01],
    [app.app_id, 'Pro', 7, 2, 1.75],
    [app.app_id, 'Pro', 30, 9.99, 8.75],
    [app.app_id, 'Pro', null, 99, 86.63],
    [app.app_id, 'VIP', 1, 0.01, 0.01],
    [other.app_id, 'VIP', null, 0, 0],
  ]);
  expect(body.data[1]!.app_name).toMatch(/^App-/);
  expect(await list()).toEqual(body.data);
  await set([price({ price: 5 })]);
  expect(await list()).toMatchObject([{ tier: 'Pro', duration_days: 30, price: 5 }]);
  await set([]);
  expect(await list()).toEqual([]);
});

test('500 prices, and not one more', async () => {
  const many = Array.from({ length: 500 }, (_, index) => price({ duration_days: index + 1 }));
  expect((await set(many)).body.data).toHaveLength(500);
  expectFaults(await set([...many, price({ duration_days: 501 })]), '/prices');
  expect(await list()).toHaveLength(500);
});

test('lifetime is a lifetime; without it, days are required', async () => {
  const lifetime = price({ duration_days: undefined, lifetime: true });
  expect((await set([lifetime])).body.data).toMatchObject([{ duration_days: null, lifetime: true }]);
  const without = await set([price(), price({ duration_days: undefined })]);
  expectFaults(without, '/prices/1/duration_days');
  expectFaults(await set([price({ lifetime: true })]), '/prices/0/lifetime');
});

describe('VALIDATION_FAILED', async () => {
  const foreign = await newApp(api);
  const deleted = await newApp(api, developer);
  await api.call('DELETE', `/api/v2/dev/apps/${deleted.app_id}`, undefined, developer);

  test("is the same for another developer's, a deleted and an absent application", async () => {
    const responses = await Promise.all(
      [foreign.app_id, deleted.app_id, 'app_01kazm4q7ffx8v5t2w9y3b6n1c'].map((app_id) =>
        set([price({ app_id })]),
      ),
    );
    for (const response of responses) {
      expectFaults(response, '/prices/0/app_id');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
  });

  test.each<[string, unknown[]]>([
    ['app_id', ['', null, 1, undefined]],
    ['tier', ['Gold', 'pro', '', null, undefined]],
    ['duration_days', [0, -1, 36_501, 1.5, '30', undefined]],
    ['price', [-0.01, -1, 0.001, 9.999, 1e-7, 1e13, 2 ** 53, 1e300, '9.99', null, undefined]],
  ])('for %s', async (member, values) => {
    await set([price({ price: 1 })]);
    for (const value of values) expectFaults(await set([price({ [member]: value })]), `/prices/0/${member}`);
    expect(await list()).toMatchObject([{ price: 1 }]);
  });

  test.each(['1e400', '-1e400', '-0', '-0.0'])('for a price of %s', async (number) => {
    const text = JSON.stringify({ prices: [price({ price: 1 })] }).replace(
      '"price":1}',
      `"price":${number}}`,
    );
    const response = await api.call('PUT', `${reseller.path}/prices`, text, app);
    expectFaults(response, '/prices/0/price');
  });

  test('for two prices of the same kind of key', async () => {
    expectFaults(await set([price(), price({ duration_days: null }), price({ price: 1 })]), '/prices/2');
    const lifetimes = [price({ duration_days: null }), price({ duration_days: null })];
    expectFaults(await set(lifetimes), '/prices/1');
  });

  test('lists every fault, and changes nothing', async () => {
    await set([price({ price: 1 })]);
    const faulty = [price({ tier: 'Gold', price: 0.001 }), price(), price({ app_id: foreign.app_id })];
    expectFaults(await set(faulty), '/prices/0/tier', '/prices/0/price', '/prices/2/app_id');
    expect(await list()).toMatchObject([{ price: 1 }]);
  });
});

test('a price has the decimals of the currency', async () => {
  for (const [currency, good, bad] of [
    ['JPY', 100, 100.5],
    ['KWD', 1.001, 1.0001],
  ] as const) {
    const own = await newReseller(api, app, { currency, price: null });
    expect((await set([price({ price: good })], app.token, own.reseller_id)).body.data[0]!.price).toBe(good);
    expectFaults(await set([price({ price: bad })], app.token, own.reseller_id), '/prices/0/price');
  }
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const { token: foreignToken } = await newDeveloper(api);
  const absent = await set([price()], foreignToken, ABSENT_RESELLER);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await set([price()], foreignToken))).toEqual(comparable(absent));
});
