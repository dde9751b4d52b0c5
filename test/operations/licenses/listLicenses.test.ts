import pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';

const { api, clock, databaseUrl } = await startTestService();

const list = ({ app_id, token }: { app_id: string; token?: string }, query = '') =>
  api.call<components['schemas']['LicenseList']>(
    'GET',
    `/api/v2/dev/apps/${app_id}/licenses${query}`,
    undefined,
    {
      token,
    },
  );

describe('pages', async () => {
  const app = await newApp(api);
  const keys = (await app.keys(30)).concat(await app.keys(15, 'Pro', null)).reverse();

  test.each([1, 7, 15, 44, 45, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { body } = await list(app, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ license_key }) => license_key));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(keys);
    expect(pages).toBe(Math.ceil(keys.length / limit));
  });

  test('have 20 items by default, and stay the same if keys are created in between', async () => {
    const own = await newApp(api);
    const made = (await own.keys(25)).reverse();
    const first = await list(own);
    expect(first.body.data).toHaveLength(20);
    await own.keys(3);
    const second = await list(own, `?cursor=${first.body.next_cursor}`);
    expect(second.body.data.map(({ license_key }) => license_key)).toEqual(made.slice(20));
  });

  test('begin at the cursor, separately for each application', async () => {
    const other = await newApp(api);
    await other.keys(3);
    const { body } = await list(app, '?limit=1');
    const response = await list(other, `?cursor=${body.next_cursor}`);
    expect(response.body.data.every(({ license_key }) => !keys.includes(license_key))).toBe(true);
  });
});

test('shows the state of a key, and who redeemed it when', async () => {
  const app = await newApp(api);
  const [first, second, third] = await app.keys(3, 'Pro', 30);
  const createdAt = clock.now().toISOString();
  const registered = await api.register(
    app.with({ username: 'ada', password: 'a user password', hwid: 'h', license_key: first! }),
  );
  clock.advance(SECOND);
  const redeemedAt = clock.now().toISOString();
  const { username } = await newUser(api, app);
  await api.activate(app.with({ username, license_key: second! }));
  const { body } = await list(app);
  const common = {
    license_id: expect.stringMatching(/^lic_/),
    tier: 'Pro',
    duration_days: 30,
    lifetime: false,
    note: null,
    redeem_by: null,
    reseller_id: null,
    ban_reason: null,
    created_at: createdAt,
  };
  expect(body.data).toEqual([
    { ...common, license_key: third, status: 'unused', redeemed_at: null, redeemed_by: null },
    {
      ...common,
      license_key: second,
      status: 'redeemed',
      redeemed_at: redeemedAt,
      redeemed_by: expect.stringMatching(/^usr_/),
    },
    {
      ...common,
      license_key: first,
      status: 'redeemed',
      redeemed_at: createdAt,
      redeemed_by: registered.body['user_id'],
    },
  ]);
});

test.each(['banned', 'paused'])('shows that a key is %s', async (status) => {
  const app = await newApp(api);
  await app.keys(1);
  const database = await connectTo(databaseUrl);
  await database.query('update licenses set status = $1 where app_id = $2', [status, app.app_id]);
  expect((await list(app)).body.data).toMatchObject([{ status }]);
});

test('is empty and on its last page without keys', async () => {
  expect((await list(await newApp(api))).body).toEqual({ status: 'success', data: [], next_cursor: null });
});

test('works while the application is disabled', async () => {
  const app = await newApp(api);
  await app.keys(1);
  await app.patch({ status: 'disabled' });
  expect((await list(app)).body.data).toHaveLength(1);
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?limit=x', 'query/limit'],
  ['?cursor=nonsense', 'query/cursor'],
  [`?cursor=${Buffer.from('app_01kazm8e3rfxkb0a6t2d5v9j1m').toString('base64url')}`, 'query/cursor'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await list(await newApp(api), query), pointer);
});

test("APPLICATION_NOT_FOUND is the same for another developer's and an absent one, with any cursor", async () => {
  const app = await newApp(api);
  await app.keys(3);
  const { next_cursor } = (await list(app, '?limit=1')).body;
  const { token } = await newDeveloper(api);
  const absent = await list({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token });
  expectError(absent, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await list({ app_id: app.app_id, token }))).toEqual(comparable(absent));
  const withCursor = await list({ app_id: app.app_id, token }, `?cursor=${next_cursor}`);
  expect(comparable(withCursor)).toEqual(comparable(absent));
});

test('UNAUTHORIZED without a token', async () => {
  const { app_id } = await newApp(api);
  expectError(await list({ app_id }), 401, 'UNAUTHORIZED');
});

describe('filters', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [spring] = await licenses.create(1, { tier: 'Standard', note: 'Spring SALE 100%_off \\ ÄÖ' });
  const [vip] = await licenses.create(1, { tier: 'VIP' });
  const used = await redeemed(api, app);
  const [banned, paused] = await licenses.create(2, { tier: 'VIP', note: 'x' });
  await licenses.ban(banned!.license_id);
  await licenses.pause(paused!.license_id);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const reseller = 'rsl_01kazm8e3rfxkb0a6t2d5v9j1m';
  await database.query(
    `insert into resellers (reseller_id, developer_id, name, currency, created_at)
     select $1, developer_id, 'r', 'USD', now() from applications where app_id = $2`,
    [reseller, app.app_id],
  );
  await database.query('update licenses set reseller_id = $1 where license_id = $2', [
    reseller,
    vip!.license_id,
  ]);
  await database.end();
  const find = async (query: string) =>
    (await licenses.list(query)).body.data.map(({ license_id }) => license_id);
  const ids = (...found: ({ license_id: string } | undefined)[]) => found.map((each) => each!.license_id);
  const userId = (await licenses.get(used.license_id)).body.license.redeemed_by!;

  test.each<[string, string[]]>([
    ['?status=unused', ids(vip, spring)],
    ['?status=redeemed', ids(used)],
    ['?status=banned', ids(banned)],
    ['?tier=VIP', ids(paused, banned, vip)],
    ['?tier=vip', []],
    ['?tier=VIP&status=paused', ids(paused)],
    [`?reseller_id=${reseller}`, ids(vip)],
    [`?reseller_id=${reseller}&tier=Pro`, []],
    ['?q=spring', ids(spring)],
    ['?q=sale%20100', ids(spring)],
    ['?q=100%25_', ids(spring)],
    ['?q=g%25s', []],
    ['?q=%5C%20%C3%A4', ids(spring)],
    ['?q=sp', []],
    ['?q=spring&status=banned', []],
    ['?q=spring&tier=Standard', ids(spring)],
    [`?q=${used.license_key}`, ids(used)],
    [`?q=${used.license_key.toLowerCase().replaceAll('-', '')}`, ids(used)],
    [`?q=${used.license_key.slice(0, 10)}`, []],
    [`?q=${used.user.username.toUpperCase()}`, ids(used)],
    [`?q=${userId}`, ids(used)],
    ['?q=%E2%80%8B', []],
    ['?q=no-match', []],
  ])('%s', async (query, found) => expect(await find(query)).toEqual(found));

  test('apply to the next page too', async () => {
    const first = await licenses.list('?tier=VIP&limit=2');
    expect(ids(...first.body.data)).toEqual(ids(paused, banned));
    const second = await licenses.list(`?tier=VIP&limit=2&cursor=${first.body.next_cursor}`);
    expect(ids(...second.body.data)).toEqual(ids(vip));
    expect(second.body.next_cursor).toBeNull();
  });

  test('return a license once if it matches in two ways', async () => {
    const own = await newApp(api);
    const { user, license_id } = await redeemed(api, own, { note: 'for someone' });
    await licensesOf(api, own).update(license_id, { note: `for ${user.username}` });
    expect((await licensesOf(api, own).list(`?q=${user.username}`)).body.data).toHaveLength(1);
  });

  test.each([
    ['?status=lost', 'query/status'],
    ['?tier=', 'query/tier'],
    ['?q=', 'query/q'],
    ['?q=a%00b', 'query/q'],
    [`?q=${'q'.repeat(129)}`, 'query/q'],
    ['?reseller_id=', 'query/reseller_id'],
  ])('VALIDATION_FAILED for %s', async (query, pointer) => expectFaults(await list(app, query), pointer));
});
