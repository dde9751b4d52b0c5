import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller, newResellerToken } from '../support/resellers.ts';

const { api, databaseUrl, services } = await startTestService();
const app = await newApp(api);
const remove = (id: string, token: string = app.token) =>
  api.call('DELETE', `/api/v2/dev/resellers/${id}`, undefined, { token });

test('ends the tokens; the keys stay with the developer and work', async () => {
  const reseller = await newReseller(api, app, { balance: 10, price: 10 });
  const other = await newResellerToken(api, app, reseller.reseller_id);
  const [key] = await reseller.keys(1);
  expect((await remove(reseller.reseller_id)).body).toEqual({
    status: 'success',
    message: 'Reseller deleted.',
  });
  for (const token of [reseller.token, other]) {
    expectError(await api.call('GET', '/api/v2/dev/reseller', undefined, { token }), 401, 'UNAUTHORIZED');
  }
  expectError(await reseller.buy(), 401, 'UNAUTHORIZED');
  const listed = await api.call<components['schemas']['LicenseList']>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/licenses`,
    undefined,
    app,
  );
  expect(listed.body.data.map(({ license_key }) => license_key)).toContain(key!.license_key);
  const fields = { username: 'heir', password: 'a user password', hwid: newHwid() };
  expect((await api.register(app.with({ ...fields, license_key: key!.license_key }))).status).toBe(201);
});

test('RESELLER_HAS_BALANCE while the balance is above 0', async () => {
  const reseller = await newReseller(api, app, { balance: 0.01 });
  const refused = await remove(reseller.reseller_id);
  expectError(refused, 409, 'RESELLER_HAS_BALANCE');
  expect(refused.body['detail']).toBe('The reseller still has 0.01 USD.');
  expect(await reseller.balance()).toBe(0.01);
  await api.post(`${reseller.path}/debits`, { amount: 0.01 }, app);
  expect((await remove(reseller.reseller_id)).status).toBe(200);
});

test('a token that was created at the same time is not valid', async () => {
  const reseller = await newReseller(api, app);
  await remove(reseller.reseller_id);
  const { developerId } = (await services.apiTokens.authenticate(app.token)) ?? {
    developerId: (await services.developers.authenticate(app.token))!.developerId,
  };
  const actor = { kind: 'developer', id: developerId, developerId, address: '127.0.0.1' } as const;
  const wanted = { name: 'Late', scopes: ['read', 'write'], expiresAt: null } as const;
  const { token } = await services.apiTokens.create(actor, ['read', 'write'], wanted, reseller.reseller_id);
  for (const place of ['', '/licenses', '/ledger', '/users']) {
    const response = await api.call('GET', `/api/v2/dev/reseller${place}`, undefined, { token });
    expectError(response, 401, 'UNAUTHORIZED');
  }
  const wish = { app_id: app.app_id, tier: 'Pro', duration_days: 30, amount: 1 };
  expectError(await api.post('/api/v2/dev/reseller/licenses', wish, { token }), 401, 'UNAUTHORIZED');
});

test('the ledger stays', async () => {
  const reseller = await newReseller(api, app, { balance: 10, price: 10 });
  await reseller.keys(1);
  await remove(reseller.reseller_id);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query(
    'select kind from reseller_ledger where reseller_id = $1 order by sequence',
    [reseller.reseller_id],
  );
  expect(rows).toEqual([{ kind: 'credit' }, { kind: 'generation' }]);
});

test("RESELLER_NOT_FOUND is the same for another developer's, a deleted and an absent one", async () => {
  const { reseller_id } = await newReseller(api, app, { balance: 1 });
  const { token } = await newDeveloper(api);
  const absent = await remove(ABSENT_RESELLER, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await remove(reseller_id, token))).toEqual(comparable(absent));
  const empty = await newReseller(api, app);
  expect((await remove(empty.reseller_id)).status).toBe(200);
  expect(comparable(await remove(empty.reseller_id))).toEqual(comparable(absent));
});
