import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { newReseller } from '../support/resellers.ts';

const { api, clock } = await startTestService();
const get = (token?: string) =>
  api.call<components['schemas']['OwnResellerResult']>('GET', '/api/v2/dev/reseller', undefined, { token });

test('shows the balance, the commission and the cost of each kind of key', async () => {
  const developer = await newDeveloper(api);
  const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
  const reseller = await newReseller(api, app, { balance: 33.33, commission_margin: 12.5 });
  await reseller.price(
    { app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 9.99 },
    { app_id: other.app_id, tier: 'VIP', duration_days: null, price: 0.01 },
  );
  const app_name = expect.stringMatching(/^App-/) as string;
  expect((await get(reseller.token)).body).toEqual({
    status: 'success',
    reseller_id: reseller.reseller_id,
    name: expect.stringMatching(/^Reseller-/),
    currency: 'USD',
    balance: 33.33,
    owed: 0,
    commission_margin: 12.5,
    suspended: false,
    created_at: clock.now().toISOString(),
    prices: [
      {
        app_id: app.app_id,
        app_name,
        tier: 'Pro',
        duration_days: 30,
        lifetime: false,
        price: 9.99,
        cost: 8.75,
      },
      {
        app_id: other.app_id,
        app_name,
        tier: 'VIP',
        duration_days: null,
        lifetime: true,
        price: 0.01,
        cost: 0.01,
      },
    ],
  });
});

test('each reseller sees only their own', async () => {
  const app = await newApp(api);
  const [first, second] = [
    await newReseller(api, app, { balance: 1 }),
    await newReseller(api, app, { balance: 2, price: null }),
  ];
  expect((await get(first.token)).body).toMatchObject({ reseller_id: first.reseller_id, balance: 1 });
  expect((await get(second.token)).body).toMatchObject({
    reseller_id: second.reseller_id,
    balance: 2,
    prices: [],
  });
});

test("UNAUTHORIZED without a token, with the developer's, and with a developer's API token", async () => {
  const { token } = await newApp(api);
  const wanted = { name: 'bot', scopes: ['read', 'write', 'auth:dev'] };
  const bot = await api.post('/api/v2/dev/tokens', wanted, { token });
  for (const other of [undefined, token, String(bot.body['token'])]) {
    expectError(await get(other), 401, 'UNAUTHORIZED');
  }
});
