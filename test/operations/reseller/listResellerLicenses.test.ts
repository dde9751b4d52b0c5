import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { newReseller } from '../support/resellers.ts';

const { api, clock, databaseUrl } = await startTestService();
const list = (token: string, query = '') =>
  api.call<components['schemas']['ResellerLicenseList']>(
    'GET',
    `/api/v2/dev/reseller/licenses${query}`,
    undefined,
    { token },
  );

describe('pages', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 1000, price: 1 });
  const made = (await reseller.keys(30)).concat(await reseller.keys(15)).reverse();

  test.each([1, 7, 44, 45, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await list(reseller.token, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ license_key }) => license_key));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(made.map(({ license_key }) => license_key));
  });

  test('begin at the cursor, separately for each reseller', async () => {
    const other = await newReseller(api, app, { balance: 10 });
    const [own] = await other.keys(1);
    const { body } = await list(reseller.token, '?limit=1');
    for (const query of ['', `?cursor=${body.next_cursor}`]) {
      const ids = (await list(other.token, query)).body.data.map(({ license_id }) => license_id);
      expect(ids.filter((id) => id !== own!.license_id)).toEqual([]);
    }
  });
});

test('shows the state of a key, and who redeemed it', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 100, price: 1 });
  const created_at = clock.now().toISOString();
  const { body: made } = await reseller.buy({ amount: 2, note: 'Order 17' });
  const { username } = await newUser(api, app);
  clock.advance(SECOND);
  const redeemed_at = clock.now().toISOString();
  await api.activate(app.with({ username, license_key: made.licenses[0]!.license_key }));
  const common = { app_id: app.app_id, tier: 'Pro', duration_days: 30, note: 'Order 17', created_at };
  expect((await list(reseller.token)).body.data).toEqual([
    { ...made.licenses[1], ...common, status: 'unused', redeemed_at: null, redeemed_by: null },
    {
      ...made.licenses[0],
      ...common,
      status: 'redeemed',
      redeemed_at,
      redeemed_by: expect.stringMatching(/^usr_/),
    },
  ]);
});

test("shows neither the developer's keys nor another reseller's", async () => {
  const app = await newApp(api);
  const [first, second] = [
    await newReseller(api, app, { balance: 10 }),
    await newReseller(api, app, { balance: 10 }),
  ];
  await app.keys(3);
  const [own] = await first.keys(1);
  await second.keys(1);
  expect((await list(first.token)).body.data.map(({ license_id }) => license_id)).toEqual([own!.license_id]);
});

describe('filters', async () => {
  const developer = await newDeveloper(api);
  const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
  const reseller = await newReseller(api, app, { balance: 100, price: null });
  await reseller.price(
    { app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 1 },
    { app_id: other.app_id, tier: 'Pro', duration_days: 30, price: 1 },
  );
  const keys = await reseller.keys(4);
  const [elsewhere] = (await reseller.buy({ app_id: other.app_id })).body.licenses;
  const { username } = await newUser(api, app);
  await api.activate(app.with({ username, license_key: keys[0]!.license_key }));
  const ids = async (query: string) =>
    (await list(reseller.token, query)).body.data.map(({ license_id }) => license_id);

  test('by status', async () => {
    const database = await connectTo(databaseUrl);
    await database.query("update licenses set status = 'banned' where license_id = $1", [
      keys[1]!.license_id,
    ]);
    await database.query("update licenses set status = 'paused' where license_id = $1", [
      keys[2]!.license_id,
    ]);
    expect(await ids('?status=redeemed')).toEqual([keys[0]!.license_id]);
    expect(await ids('?status=banned')).toEqual([keys[1]!.license_id]);
    expect(await ids('?status=paused')).toEqual([keys[2]!.license_id]);
    expect(await ids('?status=unused')).toEqual([elsewhere!.license_id, keys[3]!.license_id]);
  });

  test('by application, and both', async () => {
    expect(await ids(`?app_id=${other.app_id}`)).toEqual([elsewhere!.license_id]);
    expect(await ids(`?app_id=${app.app_id}`)).toHaveLength(4);
    expect(await ids(`?app_id=${app.app_id}&status=unused`)).toEqual([keys[3]!.license_id]);
  });

  test('by another’s application: nothing, regardless of whether it exists', async () => {
    const foreign = await newApp(api);
    for (const app_id of [foreign.app_id, 'app_01kazm4q7ffx8v5t2w9y3b6n1c', 'x']) {
      expect((await list(reseller.token, `?app_id=${app_id}`)).body).toEqual({
        status: 'success',
        data: [],
        next_cursor: null,
      });
    }
  });
});

test('omits keys of deleted applications', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10 });
  await reseller.keys(1);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expect((await list(reseller.token)).body.data).toEqual([]);
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
  ['?status=sold', 'query/status'],
  ['?reseller_id=x', 'query/reseller_id'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const { token } = await newReseller(api, await newApp(api), { price: null });
  expectFaults(await list(token, query), pointer);
});

test("UNAUTHORIZED with the developer's token", async () => {
  expectError(await list((await newApp(api)).token), 401, 'UNAUTHORIZED');
});
