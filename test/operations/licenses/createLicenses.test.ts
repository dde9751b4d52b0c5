import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { limitPlan } from '../support/plans.ts';

const { api, clock, databaseUrl } = await startTestService();
const app = await newApp(api);
const KEY = /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){4}$/;

const create = ({ app_id, token }: Pick<App, 'app_id'> & { token?: string }, body: object) =>
  api.post<components['schemas']['CreateLicensesResult']>(`/api/v2/dev/apps/${app_id}/licenses`, body, {
    token,
  });
const list = async ({ app_id, token }: App) =>
  (
    await api.call<components['schemas']['LicenseList']>(
      'GET',
      `/api/v2/dev/apps/${app_id}/licenses?limit=100`,
      undefined,
      { token },
    )
  ).body.data;
const wish = (fields: object = {}) => ({ amount: 1, duration_days: 30, tier: 'Pro', ...fields });

test('creates keys of one tier and duration, in order', async () => {
  const own = await newApp(api);
  const { status, body } = await create(own, wish({ amount: 3 }));
  expect(status).toBe(201);
  expect(body.status).toBe('success');
  expect(body.licenses).toHaveLength(3);
  for (const license of body.licenses) {
    expect(license).toEqual({
      license_id: expect.stringMatching(/^lic_[0-9a-z]{26}$/),
      license_key: expect.stringMatching(KEY),
      tier: 'Pro',
      duration_days: 30,
      lifetime: false,
      note: null,
      redeem_by: null,
    });
  }
  const ids = body.licenses.map(({ license_id }) => license_id);
  expect(ids).toEqual([...ids].sort());
  expect((await list(own)).map(({ license_id }) => license_id)).toEqual(ids.reverse());
});

test.each([
  { duration_days: null },
  { duration_days: undefined, lifetime: true },
  { duration_days: null, lifetime: true },
])('%j creates lifetimes', async (duration) => {
  const { body } = await create(app, wish(duration));
  expect(body.licenses[0]).toMatchObject({ duration_days: null, lifetime: true });
});

test('lifetime: false changes nothing', async () => {
  const { body } = await create(app, wish({ lifetime: false }));
  expect(body.licenses[0]).toMatchObject({ duration_days: 30, lifetime: false });
});

test('10,000 keys in one call, all different, none stored in plain text', async () => {
  const own = await newApp(api);
  const { status, body } = await create(own, wish({ amount: 10_000 }));
  expect(status).toBe(201);
  expect(new Set(body.licenses.map(({ license_key }) => license_key)).size).toBe(10_000);
  expect(new Set(body.licenses.map(({ license_id }) => license_id)).size).toBe(10_000);
  const user = await newUser(api, own);
  const license_key = body.licenses[9_999]!.license_key;
  expect((await api.activate(own.with({ username: user.username, license_key }))).status).toBe(200);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ row: string; sealed: Buffer }>(
    'select licenses::text as row, key_sealed as sealed from licenses where license_id = $1',
    [body.licenses[0]!.license_id],
  );
  expect(rows[0]!.row).not.toContain(body.licenses[0]!.license_key);
  expect(rows[0]!.sealed.includes(body.licenses[0]!.license_key)).toBe(false);
});

test('keeps note and redeem_by', async () => {
  const own = await newApp(api);
  const note = ' For “reviewers” 🦊\n2nd line ';
  await create(own, wish({ note, redeem_by: inDays(clock, 7) }));
  await create(own, wish({ note: null, redeem_by: null }));
  await create(own, wish({ redeem_by: '2027-01-01T01:00:00+01:00' }));
  expect((await list(own)).map((license) => [license.note, license.redeem_by])).toEqual([
    [null, '2027-01-01T00:00:00.000Z'],
    [null, null],
    [note, inDays(clock, 7)],
  ]);
});

test.each([
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-01:00',
])('redeem_by %s is kept exactly or refused, and never spoils the list', async (redeem_by) => {
  const own = await newApp(api);
  const { status } = await create(own, wish({ redeem_by }));
  expect([201, 400]).toContain(status);
  if (status === 400) return;
  // The call itself checks the response against `format: date-time`.
  expect(Date.parse((await list(own))[0]!.redeem_by!)).toBe(Date.parse(redeem_by));
});

test.each([
  '2026-02-30T00:00:00Z',
  '2026-11-21',
  '2026-11-21T10:00:00',
  '2016-12-31T23:59:60Z',
  '+012026-01-01T00:00:00Z',
  '2026-11-21T24:00:00Z',
  'tomorrow',
  '',
  0,
])('redeem_by %j is refused', async (redeem_by) => {
  expectError(await create(app, wish({ redeem_by })), 400, 'VALIDATION_FAILED');
});

describe('VALIDATION_FAILED', () => {
  test.each<[string, unknown[]]>([
    ['amount', [0, -1, 10_001, 1.5, '5', null, true, undefined, 2 ** 31, 2 ** 53, 1e300]],
    ['duration_days', [0, -1, 36_501, 1.5, '30', undefined, 2 ** 31, 2 ** 53, {}]],
    ['lifetime', [true, 'true', 1, null]],
    ['tier', ['', 'Gold', 'pro', 'Pro ', null, undefined, 1, 'a\u0000', 't'.repeat(65)]],
    ['note', ['n'.repeat(501), 'a\u0000b', 1, {}]],
  ])('for %s', async (member, values) => {
    const before = (await list(app)).length;
    for (const value of values) expectFaults(await create(app, wish({ [member]: value })), `/${member}`);
    expect(await list(app)).toHaveLength(before);
  });

  test('for a number out of range', async () => {
    const body = JSON.stringify(wish()).replace('"amount":1', '"amount":1e400');
    const response = await api.post(`/api/v2/dev/apps/${app.app_id}/licenses`, body, { token: app.token });
    expectFaults(response, '/amount');
  });

  test('lists every fault', async () => {
    expectFaults(await create(app, {}), '/amount', '/duration_days', '/tier');
    const lifetime = wish({ duration_days: null, lifetime: false });
    expectFaults(await create(app, lifetime), '/duration_days');
  });

  test.each([1, 36_500])('not for %d days', async (duration_days) => {
    expect((await create(app, wish({ duration_days }))).status).toBe(201);
  });
});

test('concurrent requests succeed whole or fail at once with TOO_MANY_REQUESTS and Retry-After', async () => {
  const own = await newApp(api);
  const responses = await Promise.all(Array.from({ length: 12 }, () => create(own, wish({ amount: 5 }))));
  const refused = responses.filter(({ status }) => status !== 201);
  for (const response of refused) {
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect(await list(own)).toHaveLength(5 * (responses.length - refused.length));
});

test('QUOTA_EXCEEDED exactly beyond the plan, and nothing is created', async () => {
  const developer = await newDeveloper(api);
  const [own, second] = [await newApp(api, developer), await newApp(api, developer)];
  await limitPlan(databaseUrl, developer, { licenses: 5 });
  expect((await create(own, wish({ amount: 3 }))).status).toBe(201);
  for (const each of [own, second])
    expectError(await create(each, wish({ amount: 3 })), 403, 'QUOTA_EXCEEDED');
  expect([(await list(own)).length, (await list(second)).length]).toEqual([3, 0]);
  expect((await create(second, wish({ amount: 2 }))).status).toBe(201);
  expectError(await create(own, wish()), 403, 'QUOTA_EXCEEDED');
  expect((await list(own)).length).toBe(3);
});

test("tiers are those of the application's own list", async () => {
  const own = await newApp(api);
  await own.patch({ tiers: ['Gold'] });
  expect((await create(own, wish({ tier: 'Gold' }))).status).toBe(201);
  expectFaults(await create(own, wish({ tier: 'Pro' })), '/tier');
});

test("APPLICATION_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const { token } = await newDeveloper(api);
  const absent = await create({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token }, wish());
  expectError(absent, 404, 'APPLICATION_NOT_FOUND');
  const before = (await list(app)).length;
  expect(comparable(await create({ app_id: app.app_id, token }, wish()))).toEqual(comparable(absent));
  // The refusal does not even reveal whether it has the tier.
  expect(comparable(await create({ app_id: app.app_id, token }, wish({ tier: 'None' })))).toEqual(
    comparable(absent),
  );
  expect(await list(app)).toHaveLength(before);
});

test('UNAUTHORIZED without a token, or with the application secret', async () => {
  const { app_id } = app;
  expectError(await create({ app_id }, wish()), 401, 'UNAUTHORIZED');
  expectError(await create({ app_id, token: app.secret }, wish()), 401, 'UNAUTHORIZED');
});

/** Blocks the generation of keys for an application in the database. */
async function blockGeneration(app_id: string) {
  const client = await connectTo(databaseUrl);
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [app_id]);
  const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  return {
    someoneWaits: () => expect.poll(async () => (await client.query(waiting)).rowCount).toBe(1),
    release: () => client.end(),
  };
}

test('a queued request generates no keys after its application is deleted', async () => {
  const [first, own] = await Promise.all([newApp(api), newApp(api)]);
  const { someoneWaits, release } = await blockGeneration(first.app_id);
  const bulk = wish({ amount: 10_000 });
  const before = create(first, bulk);
  await someoneWaits();
  // Of the next two, one is queued, and the other one is refused because the queue is full.
  const calls = [0, 1].map(async (index) => ({ index, ...(await create(own, bulk)) }));
  const refused = await Promise.race(calls);
  expectError(refused, 429, 'TOO_MANY_REQUESTS');
  const path = `/api/v2/dev/apps/${own.app_id}`;
  expect((await api.call('DELETE', path, undefined, own)).status).toBe(200);
  await release();
  expect((await before).status).toBe(201);
  expectError((await calls[1 - refused.index])!, 404, 'APPLICATION_NOT_FOUND');
});

test('a bulk generation of one developer does not delay a few keys of another', async () => {
  const [busy, other] = await Promise.all([newApp(api), newApp(api)]);
  const { release } = await blockGeneration(busy.app_id);
  const bulk = wish({ amount: 10_000 });
  const statuses: number[] = [];
  const calls = Array.from({ length: 5 }, async () => statuses.push((await create(busy, bulk)).status));
  expect((await create(other, wish())).status).toBe(201);
  await expect.poll(() => statuses).toEqual([429, 429, 429, 429]);
  await release();
  await Promise.all(calls);
  expect(statuses).toEqual([429, 429, 429, 429, 201]);
});

describe('a mask', async () => {
  const own = await newApp(api);
  const MASK = 'AURORA-*****-*****-*****-*';

  test('gives the keys its form, and users can type them in any notation', async () => {
    const { status, body } = await create(own, wish({ amount: 5, mask: MASK }));
    expect(status).toBe(201);
    for (const { license_key } of body.licenses)
      expect(license_key).toMatch(/^AURORA(-[0-9A-HJKMNP-TV-Z]{5}){3}-[0-9A-HJKMNP-TV-Z]$/);
    const keys = body.licenses.map(({ license_key }) => license_key);
    expect(new Set(keys).size).toBe(5);
    const { username } = await newUser(api, own);
    const typed = [
      keys[0]!,
      keys[1]!.toLowerCase(),
      keys[2]!.replaceAll('-', ''),
      keys[3]!.replaceAll('-', ' ').replaceAll('0', 'o'),
      keys[4]!.replace('AURORA', 'AUR0RA').replaceAll('1', 'l'),
    ];
    for (const license_key of typed)
      expect((await api.activate(own.with({ username, license_key }))).status, license_key).toBe(200);
  });

  test('VALIDATION_FAILED for one with too few random characters', async () => {
    const masks = [
      '*'.repeat(15),
      '',
      `${'*'.repeat(16)}Ä`,
      `=${'*'.repeat(16)}`,
      `-${'*'.repeat(16)}`,
      `A B${'*'.repeat(16)}`,
      '*'.repeat(101),
      null,
      7,
    ];
    for (const mask of masks) expectFaults(await create(own, wish({ mask })), '/mask');
  });
});
