import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

const { api, clock } = await startTestService();
const get = (id: string, token: string) =>
  api.call<components['schemas']['ResellerResult']>('GET', `/api/v2/dev/resellers/${id}`, undefined, {
    token,
  });

test('shows the reseller', async () => {
  const app = await newApp(api);
  const { reseller_id } = await newReseller(api, app, {
    currency: 'KWD',
    balance: 1.001,
    commission_margin: 7.25,
  });
  expect((await get(reseller_id, app.token)).body).toEqual({
    status: 'success',
    reseller_id,
    name: expect.stringMatching(/^Reseller-/),
    currency: 'KWD',
    balance: 1.001,
    owed: 0,
    commission_margin: 7.25,
    suspended: false,
    created_at: clock.now().toISOString(),
  });
});

test("RESELLER_NOT_FOUND is the same for another developer's, a deleted and an absent one", async () => {
  const app = await newApp(api);
  const { reseller_id, path } = await newReseller(api, app);
  const { token } = await newDeveloper(api);
  const absent = await get(ABSENT_RESELLER, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await get(reseller_id, token))).toEqual(comparable(absent));
  await api.call('DELETE', path, undefined, { token: app.token });
  expect(comparable(await get(reseller_id, app.token))).toEqual(comparable(absent));
});

test("UNAUTHORIZED with the reseller's own token", async () => {
  const reseller = await newReseller(api, await newApp(api));
  expectError(await get(reseller.reseller_id, reseller.token), 401, 'UNAUTHORIZED');
});
