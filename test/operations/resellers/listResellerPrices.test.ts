import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

const { api } = await startTestService();
const list = (id: string, token: string) =>
  api.call<components['schemas']['ResellerPriceList']>(
    'GET',
    `/api/v2/dev/resellers/${id}/prices`,
    undefined,
    {
      token,
    },
  );

test('shows prices and costs with the current commission', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { price: 9.99, commission_margin: 12.5 });
  const row = { app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 9.99 };
  expect((await list(reseller.reseller_id, app.token)).body).toEqual({
    status: 'success',
    data: [{ ...row, app_name: expect.stringMatching(/^App-/), lifetime: false, cost: 8.75 }],
  });
  await reseller.patch({ commission_margin: 100 });
  expect((await list(reseller.reseller_id, app.token)).body.data).toMatchObject([{ ...row, cost: 0 }]);
});

test('omits deleted applications, and tiers that an application no longer has', async () => {
  const developer = await newDeveloper(api);
  const [first, second] = [await newApp(api, developer), await newApp(api, developer)];
  const reseller = await newReseller(api, first, { price: null });
  await reseller.price(
    { app_id: first.app_id, tier: 'Pro', duration_days: 1, price: 1 },
    { app_id: first.app_id, tier: 'VIP', duration_days: 1, price: 2 },
    { app_id: second.app_id, tier: 'Pro', duration_days: 1, price: 3 },
  );
  await first.patch({ tiers: ['Standard', 'Pro'] });
  await api.call('DELETE', `/api/v2/dev/apps/${second.app_id}`, undefined, developer);
  const { body } = await list(reseller.reseller_id, developer.token);
  expect(body.data).toMatchObject([{ app_id: first.app_id, tier: 'Pro', price: 1 }]);
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const { reseller_id } = await newReseller(api, await newApp(api));
  const { token } = await newDeveloper(api);
  const absent = await list(ABSENT_RESELLER, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await list(reseller_id, token))).toEqual(comparable(absent));
});
