import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newReseller } from '../support/resellers.ts';

type Entries = components['schemas']['LedgerEntryList'];

const { api } = await startTestService();
const app = await newApp(api);
const list = (token: string, query = '') =>
  api.call<Entries>('GET', `/api/v2/dev/reseller/ledger${query}`, undefined, { token });

test('equals what the developer sees, in pages', async () => {
  const reseller = await newReseller(api, app, { balance: 100 });
  for (let n = 0; n < 4; n += 1) await reseller.keys(1);
  const whole = await api.call<Entries>('GET', `${reseller.path}/ledger`, undefined, app);
  expect((await list(reseller.token)).body).toEqual(whole.body);
  const found: Entries['data'] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await list(reseller.token, `?limit=2${cursor && `&cursor=${cursor}`}`);
    found.push(...body.data);
    cursor = body.next_cursor;
  }
  expect(found).toEqual(whole.body.data);
  expect(found.map(({ balance }) => balance)).toEqual([60, 70, 80, 90, 100]);
});

test("shows no other reseller's entries, with any cursor", async () => {
  const [first, second] = [
    await newReseller(api, app, { balance: 1 }),
    await newReseller(api, app, { balance: 2, price: null }),
  ];
  await first.credit(5);
  expect((await list(second.token)).body.data).toMatchObject([{ amount: 2 }]);
  const { next_cursor } = (await list(first.token, '?limit=1')).body;
  expect((await list(second.token, `?cursor=${next_cursor}`)).body.data).toEqual([]);
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
  ['?reseller_id=x', 'query/reseller_id'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const { token } = await newReseller(api, app, { price: null });
  expectFaults(await list(token, query), pointer);
});

test("UNAUTHORIZED with the developer's token", async () => {
  expectError(await list(app.token), 401, 'UNAUTHORIZED');
});
