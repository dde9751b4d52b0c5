import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { ABSENT_RESELLER, newReseller } from '../support/resellers.ts';

const { api, clock, databaseUrl } = await startTestService();
const app = await newApp(api);
const list = (id: string, query = '', token: string = app.token) =>
  api.call<components['schemas']['LedgerEntryList']>(
    'GET',
    `/api/v2/dev/resellers/${id}/ledger${query}`,
    undefined,
    { token },
  );

describe('pages', async () => {
  const reseller = await newReseller(api, app, { price: null });
  for (let n = 1; n <= 23; n += 1) await reseller.credit(n);
  const amounts = Array.from({ length: 23 }, (_, index) => 23 - index);

  test.each([1, 7, 22, 23, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: number[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { body } = await list(reseller.reseller_id, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ amount }) => amount));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(amounts);
    expect(pages).toBe(Math.ceil(amounts.length / limit));
  });

  test("another reseller's cursor shows nothing of either", async () => {
    const other = await newReseller(api, app, { balance: 1 });
    const { next_cursor } = (await list(reseller.reseller_id, '?limit=1')).body;
    expect((await list(other.reseller_id, `?cursor=${next_cursor}`)).body.data).toEqual([]);
  });

  test('are in the order of the changes, even if a clock is set back', async () => {
    const own = await newReseller(api, app, { price: null });
    await own.credit(1);
    clock.advance(-60 * SECOND);
    await own.credit(2);
    clock.advance(60 * SECOND);
    expect((await list(own.reseller_id)).body.data.map(({ balance }) => balance)).toEqual([3, 1]);
  });
});

test('has every change: kind, amount, balance after it, and keys', async () => {
  const reseller = await newReseller(api, app, { balance: 100, price: 10, commission_margin: 5 });
  const keys = await reseller.keys(3);
  await api.post(`/api/v2/dev/reseller/licenses/${keys[1]!.license_id}/refund`, undefined, reseller);
  await api.post(`${reseller.path}/debits`, { amount: 1 }, app);
  const { body } = await list(reseller.reseller_id);
  const none = {
    licenses: 0,
    app_id: null,
    tier: null,
    duration_days: null,
    lifetime: false,
    reference: null,
  };
  const about = { app_id: app.app_id, tier: 'Pro', duration_days: 30, lifetime: false };
  const common = {
    entry_id: expect.any(String) as string,
    note: null,
    created_at: clock.now().toISOString(),
  };
  expect(body.data).toEqual([
    { ...common, ...none, kind: 'debit', amount: -1, balance: 80 },
    {
      ...common,
      ...about,
      kind: 'commission',
      amount: -0.5,
      balance: 81,
      licenses: 0,
      reference: keys[1]!.license_id,
    },
    {
      ...common,
      ...about,
      kind: 'refund',
      amount: 10,
      balance: 81.5,
      licenses: 1,
      reference: keys[1]!.license_id,
    },
    {
      ...common,
      ...about,
      kind: 'generation',
      amount: -30,
      balance: 71.5,
      licenses: 3,
      reference: keys[0]!.license_id,
    },
    {
      ...common,
      ...about,
      kind: 'commission',
      amount: 1.5,
      balance: 101.5,
      licenses: 0,
      reference: keys[0]!.license_id,
    },
    { ...common, ...none, kind: 'credit', amount: 100, balance: 100 },
  ]);
});

test('entries are never changed, deleted or truncated', async () => {
  const reseller = await newReseller(api, app, { balance: 1 });
  const database = await connectTo(databaseUrl);
  for (const statement of [
    'update reseller_ledger set amount_minor = 5 where reseller_id = $1',
    'delete from reseller_ledger where reseller_id = $1',
  ]) {
    await expect(database.query(statement, [reseller.reseller_id])).rejects.toThrow(/never changed/);
  }
  await expect(database.query('truncate reseller_ledger')).rejects.toThrow(/never changed/);
  await expect(
    database.query('update resellers set balance_minor = -1 where reseller_id = $1', [reseller.reseller_id]),
  ).rejects.toThrow(/balance_minor/);
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const { reseller_id } = await newReseller(api, app, { price: null });
  expectFaults(await list(reseller_id, query), pointer);
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one, regardless of the cursor", async () => {
  const { reseller_id } = await newReseller(api, app, { balance: 1 });
  const { token } = await newDeveloper(api);
  const absent = await list(ABSENT_RESELLER, '', token);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  for (const query of ['', '?cursor=nonsense']) {
    expect(comparable(await list(reseller_id, query, token))).toEqual(comparable(absent));
  }
});
