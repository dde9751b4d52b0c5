import { describe, expect, test } from 'vitest';
import type { ApiResponse } from '../../support/api.ts';
import { newApp, newDeveloper, newHwid, unique, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { newReseller, newResellerToken, type TestReseller } from '../support/resellers.ts';

const { api } = await startTestService();

interface Shop {
  readonly app: App;
  readonly reseller: TestReseller;
  /** A redeemed one and an unused one. */
  readonly licenseIds: readonly [string, string];
  readonly userId: string;
  readonly tokenId: string;
  /** Ids and names that must not appear elsewhere. */
  readonly marks: readonly string[];
}

/** A reseller with two keys, one of them redeemed. */
async function newShop(app: App): Promise<Shop> {
  const reseller = await newReseller(api, app, { balance: 123.45, price: 1.01, commission_margin: 7.77 });
  const keys = await reseller.keys(2);
  const [sold, unsold] = [keys[0]!, keys[1]!];
  const user = { username: unique('customer'), password: 'a user password', hwid: newHwid() };
  const { body } = await api.register(app.with({ ...user, license_key: sold.license_key }));
  const tokens = await api.call('GET', `${reseller.path}/tokens`, undefined, app);
  const [{ token_id }] = tokens.body['data'] as [{ token_id: string }];
  const userId = String(body['user_id']);
  return {
    app,
    reseller,
    licenseIds: [sold.license_id, unsold.license_id],
    userId,
    tokenId: token_id,
    marks: [
      reseller.reseller_id,
      sold.license_id,
      sold.license_key,
      unsold.license_id,
      unsold.license_key,
      userId,
      user.username,
      token_id,
    ],
  };
}

const developer = await newDeveloper(api);
const sharedApp = await newApp(api, developer);
const mine = await newShop(sharedApp);
const shops = {
  'a colleague who sells the same application': await newShop(sharedApp),
  'a reseller of another application of the developer': await newShop(await newApp(api, developer)),
  'a reseller of another developer': await newShop(await newApp(api)),
};
const others = Object.entries(shops);

const state = async ({ app, reseller }: Shop) => ({
  account: (await api.call('GET', '/api/v2/dev/reseller', undefined, reseller)).body,
  licenses: (await api.call('GET', '/api/v2/dev/reseller/licenses', undefined, reseller)).body,
  ledger: (await api.call('GET', '/api/v2/dev/reseller/ledger', undefined, reseller)).body,
  users: (await api.call('GET', '/api/v2/dev/reseller/users', undefined, reseller)).body,
  tokens: (await api.call('GET', `${reseller.path}/tokens`, undefined, app)).body,
});

describe.each(others)('%s', (_who, shop) => {
  test('does not appear in any response to the reseller', async () => {
    const text = JSON.stringify(await state(mine));
    const own = JSON.stringify(await state(shop));
    for (const mark of shop.marks) {
      expect(own).toContain(mark);
      expect(text).not.toContain(mark);
    }
  });

  test('counts as absent for the reseller’s token, and does not change', async () => {
    const before = await state(shop);
    const { token } = mine.reseller;
    const refund = (id: string) =>
      api.post(`/api/v2/dev/reseller/licenses/${id}/refund`, undefined, { token });
    const reset = (id: string) =>
      api.post(`/api/v2/dev/reseller/users/${id}/reset-hwid`, undefined, { token });
    const absentLicense = await refund('lic_01kazm8e3rfxkb0a6t2d5v9j1m');
    for (const id of shop.licenseIds) expect(comparable(await refund(id))).toEqual(comparable(absentLicense));
    const absentUser = await reset('usr_01kazm6t0hfa8bk4n2q7r9s1vx');
    expect(comparable(await reset(shop.userId))).toEqual(comparable(absentUser));
    if (shop.app !== mine.app) {
      const absentApp = await mine.reseller.buy({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c' });
      expect(comparable(await mine.reseller.buy({ app_id: shop.app.app_id }))).toEqual(comparable(absentApp));
    }
    for (const query of [`?app_id=${shop.app.app_id}`, '']) {
      const { body } = await api.call('GET', `/api/v2/dev/reseller/licenses${query}`, undefined, { token });
      for (const id of shop.licenseIds) expect(JSON.stringify(body)).not.toContain(id);
    }
    expect(await state(shop)).toEqual(before);
  });
});

const operationsOnAReseller: [string, string, object?][] = [
  ['GET', ''],
  ['PATCH', '', { suspended: true }],
  ['DELETE', ''],
  ['GET', '/prices'],
  ['PUT', '/prices', { prices: [] }],
  ['POST', '/credits', { amount: 1 }],
  ['POST', '/debits', { amount: 1 }],
  ['GET', '/ledger'],
  ['POST', '/tokens', { name: 'Shop', scopes: ['read'] }],
  ['GET', '/tokens'],
  ['DELETE', `/tokens/${mine.tokenId}`],
];

describe.each(operationsOnAReseller)('%s /api/v2/dev/resellers/{reseller_id}%s', (method, place, body) => {
  const at = (id: string, token: string): Promise<ApiResponse> =>
    api.call(method, `/api/v2/dev/resellers/${id}${place}`, body, { token });

  test('by another developer: as if the reseller were absent', async () => {
    const before = await state(mine);
    const stranger = shops['a reseller of another developer'].app;
    const foreign = await at(mine.reseller.reseller_id, stranger.token);
    expectError(foreign, 404, 'RESELLER_NOT_FOUND');
    const absent = await at('rsl_01kazmd4p7fy3t6w9z2b5e8h1k', stranger.token);
    expect(comparable(foreign)).toEqual(comparable(absent));
    expect(await state(mine)).toEqual(before);
  });

  test('by any reseller, including this one: the credentials are not valid', async () => {
    const before = await state(mine);
    for (const shop of [mine, ...Object.values(shops)]) {
      expectError(await at(mine.reseller.reseller_id, shop.reseller.token), 401, 'UNAUTHORIZED');
    }
    expect(await state(mine)).toEqual(before);
  });

  test.each(['read', 'write'])('by a token of the developer with only the scope %s', async (scope) => {
    const made = await api.post('/api/v2/dev/tokens', { name: 'bot', scopes: [scope] }, sharedApp);
    const response = await at(mine.reseller.reseller_id, String(made.body['token']));
    expectError(response, 403, 'INSUFFICIENT_SCOPE');
  });
});

test('a purchase of one reseller changes nothing for another', async () => {
  const before = await Promise.all(Object.values(shops).map(state));
  expect((await mine.reseller.buy()).status).toBe(201);
  expect(await Promise.all(Object.values(shops).map(state))).toEqual(before);
});

test('two tokens of one reseller see and spend the same', async () => {
  const reseller = await newReseller(api, sharedApp, { balance: 20 });
  const second = await newResellerToken(api, sharedApp, reseller.reseller_id);
  const wish = { app_id: sharedApp.app_id, tier: 'Pro', duration_days: 30, amount: 1 };
  expect((await reseller.buy()).body.balance).toBe(10);
  const bought = await api.post('/api/v2/dev/reseller/licenses', wish, { token: second });
  expect(bought.body['balance']).toBe(0);
  const [one, other] = await Promise.all(
    [reseller.token, second].map((token) =>
      api.call('GET', '/api/v2/dev/reseller/licenses', undefined, { token }),
    ),
  );
  expect(one!.body).toEqual(other!.body);
});
