import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller, type TestReseller } from '../support/resellers.ts';

const { api, databaseUrl } = await startTestService();
const app = await newApp(api);
const remove = (resellerId: string, tokenId: string, token: string = app.token) =>
  api.call('DELETE', `/api/v2/dev/resellers/${resellerId}/tokens/${tokenId}`, undefined, { token });
const tokenIdOf = async ({ path }: TestReseller) =>
  (await api.call<components['schemas']['ApiTokenList']>('GET', `${path}/tokens`, undefined, app)).body
    .data[0]!.token_id;

test('the token is not valid after the response, on any node', async () => {
  const other = await startTestService({ DATABASE_URL: databaseUrl });
  const reseller = await newReseller(api, app, { balance: 10 });
  const look = () => other.api.call('GET', '/api/v2/dev/reseller', undefined, { token: reseller.token });
  expect((await look()).status).toBe(200);
  const { status, body } = await remove(reseller.reseller_id, await tokenIdOf(reseller));
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Reseller token revoked.' });
  expectError(await look(), 401, 'UNAUTHORIZED');
  expectError(await reseller.buy(), 401, 'UNAUTHORIZED');
});

test('TOKEN_NOT_FOUND is the same for an absent one, another reseller’s, and the developer’s own', async () => {
  const [first, second] = [await newReseller(api, app), await newReseller(api, app)];
  const absent = await remove(first.reseller_id, 'tok_01kazmb6jvf1ta9r4w2y8d0e3h');
  expectError(absent, 404, 'TOKEN_NOT_FOUND');
  const made = await api.post('/api/v2/dev/tokens', { name: 'bot', scopes: ['read'] }, app);
  for (const tokenId of [await tokenIdOf(second), String(made.body['token_id'])]) {
    expect(comparable(await remove(first.reseller_id, tokenId))).toEqual(comparable(absent));
  }
  expect(await second.balance()).toBe(0);
  // A reseller's token cannot be deleted as a token of the developer.
  const asOwn = await api.call('DELETE', `/api/v2/dev/tokens/${await tokenIdOf(second)}`, undefined, app);
  expectError(asOwn, 404, 'TOKEN_NOT_FOUND');
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const reseller = await newReseller(api, app);
  const tokenId = await tokenIdOf(reseller);
  const { token } = await newDeveloper(api);
  const absent = await remove(ABSENT_RESELLER, tokenId, token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await remove(reseller.reseller_id, tokenId, token))).toEqual(comparable(absent));
  expect(await reseller.balance()).toBe(0);
});
