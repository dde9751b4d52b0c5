import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { ABSENT_RESELLER, newReseller, newResellerToken } from '../support/resellers.ts';

type Schemas = components['schemas'];

const { api, clock, databaseUrl } = await startTestService();
const app = await newApp(api);
const reseller = await newReseller(api, app, { balance: 100 });
const create = (body: object, token: string = app.token, id: string = reseller.reseller_id) =>
  api.post<Schemas['CreateApiTokenResult']>(`/api/v2/dev/resellers/${id}/tokens`, body, { token });
const own = (token: string, place = '') =>
  api.call('GET', `/api/v2/dev/reseller${place}`, undefined, { token });

test('creates a token of the reseller, which no table contains', async () => {
  const { status, body } = await create({ name: 'Shop', scopes: ['read', 'write'] });
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    token_id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
    name: 'Shop',
    scopes: ['read', 'write'],
    expires_at: null,
    last_used_at: null,
    created_at: clock.now().toISOString(),
    token: expect.stringMatching(/^lkr_[\w-]{43}$/),
  });
  expect((await own(body.token)).body['reseller_id']).toBe(reseller.reseller_id);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ row: string }>(
    `select t::text as row from api_tokens t where token_id = $1
     union all select a::text from audit_log a where target = $1`,
    [body.token_id],
  );
  expect(rows).toHaveLength(2);
  expect(rows.map(({ row }) => row).join()).not.toContain(body.token);
});

test('is valid only for the reseller API', async () => {
  const token = await newResellerToken(api, app, reseller.reseller_id);
  for (const [method, path] of [
    ['GET', '/api/v2/dev/apps'],
    ['GET', '/api/v2/dev/resellers'],
    ['GET', '/api/v2/dev/audit-log'],
    ['GET', '/api/v2/dev/tokens'],
    ['GET', `/api/v2/dev/apps/${app.app_id}`],
    ['GET', `/api/v2/dev/apps/${app.app_id}/licenses`],
    ['DELETE', `/api/v2/dev/apps/${app.app_id}`],
    ['GET', reseller.path],
    ['GET', `${reseller.path}/ledger`],
    ['DELETE', reseller.path],
  ] as const) {
    expectError(await api.call(method, path, undefined, { token }), 401, 'UNAUTHORIZED');
  }
  const wish = { amount: 1, duration_days: 30, tier: 'Pro' };
  const free = await api.post(`/api/v2/dev/apps/${app.app_id}/licenses`, wish, { token });
  expectError(free, 401, 'UNAUTHORIZED');
});

describe('scopes', () => {
  test('read can read and not write', async () => {
    const token = await newResellerToken(api, app, reseller.reseller_id, ['read']);
    for (const place of ['', '/licenses', '/ledger', '/users'])
      expect((await own(token, place)).status).toBe(200);
    const wish = { app_id: app.app_id, tier: 'Pro', duration_days: 30, amount: 1 };
    for (const [path, body] of [
      ['licenses', wish],
      ['licenses/lic_01kazm8e3rfxkb0a6t2d5v9j1m/refund', undefined],
      ['users/usr_01kazm6t0hfa8bk4n2q7r9s1vx/reset-hwid', undefined],
    ] as const) {
      const response = await api.post(`/api/v2/dev/reseller/${path}`, body, { token });
      expectError(response, 403, 'INSUFFICIENT_SCOPE');
    }
  });

  test('write can buy and not read', async () => {
    const token = await newResellerToken(api, app, reseller.reseller_id, ['write']);
    const wish = { app_id: app.app_id, tier: 'Pro', duration_days: 30, amount: 1 };
    expect((await api.post('/api/v2/dev/reseller/licenses', wish, { token })).status).toBe(201);
    for (const place of ['', '/licenses', '/ledger', '/users']) {
      expectError(await own(token, place), 403, 'INSUFFICIENT_SCOPE');
    }
  });

  test('INSUFFICIENT_SCOPE for scopes that the creating token lacks', async () => {
    const maker = await api.post<Schemas['CreateApiTokenResult']>(
      '/api/v2/dev/tokens',
      { name: 'Back office', scopes: ['auth:dev', 'read'] },
      { token: app.token },
    );
    const { token } = maker.body;
    expect((await create({ name: 'Shop', scopes: ['read'] }, token)).status).toBe(201);
    expectError(await create({ name: 'Shop', scopes: ['read', 'write'] }, token), 403, 'INSUFFICIENT_SCOPE');
  });
});

describe('VALIDATION_FAILED', () => {
  test.each<[string, unknown[]]>([
    ['name', ['', 'n'.repeat(101), null, undefined]],
    ['scopes', [[], ['read', 'read'], 'read', null, undefined]],
    ['scopes/0', [['auth:dev'], ['admin']]],
    ['expires_at', ['2020-01-01T00:00:00Z', 'tomorrow', '2026-02-30T00:00:00Z', 0]],
  ])('for %s', async (pointer, values) => {
    const [member] = pointer.split('/') as [string];
    for (const value of values) {
      const wanted = { name: 'Shop', scopes: ['read'], [member]: value };
      expectFaults(await create(wanted), `/${pointer}`);
    }
  });
});

test("RESELLER_NOT_FOUND is the same for another developer's and an absent one", async () => {
  const { token } = await newDeveloper(api);
  const wanted = { name: 'Shop', scopes: ['read'] };
  const absent = await create(wanted, token, ABSENT_RESELLER);
  expectError(absent, 404, 'RESELLER_NOT_FOUND');
  expect(comparable(await create(wanted, token))).toEqual(comparable(absent));
});

// Last, because the developer's token expires too.
test('expires', async () => {
  const { body } = await create({ name: 'Shop', scopes: ['read'], expires_at: inDays(clock, 2) });
  expect(body.expires_at).toBe(inDays(clock, 2));
  clock.advance(2 * DAY - 1);
  expect((await own(body.token)).status).toBe(200);
  clock.advance(1);
  expectError(await own(body.token), 401, 'UNAUTHORIZED');
});
