import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller, newResellerToken } from '../support/resellers.ts';

const { api } = await startTestService();
const app = await newApp(api);
const list = (id: string, query = '', token: string = app.token) =>
  api.call<components['schemas']['ApiTokenList']>(
    'GET',
    `/api/v2/dev/resellers/${id}/tokens${query}`,
    undefined,
    { token },
  );

test("shows the reseller's tokens, newest first, in pages, and never the token itself", async () => {
  const reseller = await newReseller(api, app);
  const tokens = [reseller.token];
  for (let n = 0; n < 4; n += 1)
    tokens.push(await newResellerToken(api, app, reseller.reseller_id, ['read']));
  const found: components['schemas']['ApiToken'][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await list(reseller.reseller_id, `?limit=2${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data);
    cursor = body.next_cursor;
  }
  expect(found).toHaveLength(5);
  const ids = found.map(({ token_id }) => token_id);
  expect(ids).toEqual([...ids].sort().reverse());
  expect(found.at(-1)!.scopes).toEqual(['read', 'write']);
  for (const token of tokens) expect(JSON.stringify(found)).not.toContain(token);
});

test("are not listed among the developer's tokens or another reseller's", async () => {
  const [first, second] = [await newReseller(api, app), await newReseller(api, app)];
  expect((await list(second.reseller_id)).body.data).toHaveLength(1);
  await newResellerToken(api, app, first.reseller_id);
  expect((await list(second.reseller_id)).body.data).toHaveLength(1);
  const own = await api.call('GET', '/api/v2/dev/tokens', undefined, app);
  expect(own.body['data']).toEqual([]);
});

test('VALIDATION_FAILED for a cursor of another list', async () => {
  const { reseller_id } = await newReseller(api, app, { price: null });
  expectFaults(await list(reseller_id, '?cursor=x'), 'query/cursor');
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const { reseller_id } = await newReseller(api, app);
  const { token } = await newDeveloper(api);
  const absent = await list(ABSENT_RESELLER, '', token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await list(reseller_id, '', token))).toEqual(comparable(absent));
});
