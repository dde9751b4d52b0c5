import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

type Schemas = components['schemas'];

const { api, clock } = await startTestService();
const { token } = await newDeveloper(api);
const create = (body: unknown, headers: Record<string, string> = {}) =>
  api.post<Schemas['ResellerResult']>('/api/v2/dev/resellers', body, { token, headers });
const count = async () =>
  (await api.call<Schemas['ResellerList']>('GET', '/api/v2/dev/resellers?limit=100', undefined, { token }))
    .body.data.length;
const wish = (fields: object = {}) => ({ name: 'Keys & More', currency: 'USD', ...fields });

test('creates a reseller with an empty balance', async () => {
  const { status, body } = await create(wish({ commission_margin: 12.5 }));
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    reseller_id: expect.stringMatching(/^rsl_[0-9a-z]{26}$/),
    name: 'Keys & More',
    currency: 'USD',
    balance: 0,
    owed: 0,
    commission_margin: 12.5,
    suspended: false,
    created_at: clock.now().toISOString(),
  });
});

test('the default commission is 0', async () => {
  expect((await create(wish())).body.commission_margin).toBe(0);
});

test.each([0, 0.01, 0.07, 0.29, 33.33, 99.99, 100])(
  'a commission of %d is returned exactly',
  async (margin) => {
    expect((await create(wish({ commission_margin: margin }))).body.commission_margin).toBe(margin);
  },
);

test('balance and identifiers in the request change nothing', async () => {
  const injected = {
    balance: 1000,
    balance_minor: 1000,
    reseller_id: 'rsl_01kazmd4p7fy3t6w9z2b5e8h1k',
    developer_id: 'dev_01kazm2c5gf0b9s3w8h1x6k4td',
    margin_basis_points: 9000,
    suspended: true,
  };
  const { status, body } = await create(wish(injected));
  expect(status).toBe(201);
  expect(body).toMatchObject({ balance: 0, commission_margin: 0, suspended: false });
  expect(body.reseller_id).not.toBe(injected.reseller_id);
});

describe('VALIDATION_FAILED', () => {
  test.each<[string, unknown[]]>([
    ['name', ['', 'n'.repeat(101), 'a\u0000', null, 1, undefined]],
    ['currency', ['usd', 'US', 'USDT', 'ABC', '$', '', null, 840, undefined]],
    ['commission_margin', [-0.01, 100.01, 101, 0.001, 12.345, 1e-7, '10', null, 1e300]],
  ])('for %s', async (member, values) => {
    const before = await count();
    for (const value of values) expectFaults(await create(wish({ [member]: value })), `/${member}`);
    expect(await count()).toBe(before);
  });

  test.each(['1e400', '-1e400', '-0', '-0.0'])('for a commission of %s', async (number) => {
    const text = JSON.stringify(wish({ commission_margin: 1 })).replace(
      '"commission_margin":1',
      `"commission_margin":${number}`,
    );
    expectFaults(await create(text), '/commission_margin');
  });

  test('lists every fault', async () => expectFaults(await create({}), '/name', '/currency'));
});

test('an Idempotency-Key creates one reseller with two requests', async () => {
  const before = await count();
  const key = { 'idempotency-key': 'one-reseller' };
  const [first, second] = [await create(wish(), key), await create(wish(), key)];
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await count()).toBe(before + 1);
  expectError(await create(wish({ name: 'Other' }), key), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('INSUFFICIENT_SCOPE without auth:dev', async () => {
  const made = await api.post<Schemas['CreateApiTokenResult']>(
    '/api/v2/dev/tokens',
    { name: 'bot', scopes: ['read', 'write'] },
    { token },
  );
  const response = await api.post('/api/v2/dev/resellers', wish(), { token: made.body.token });
  expectError(response, 403, 'INSUFFICIENT_SCOPE');
});

test('is in the audit log', async () => {
  const { body } = await create(wish({ commission_margin: 1 }));
  const log = await api.call<Schemas['AuditEntryList']>(
    'GET',
    `/api/v2/dev/audit-log?target=${body.reseller_id}`,
    undefined,
    { token },
  );
  expect(log.body.data).toMatchObject([
    { action: 'reseller.created', data: { name: 'Keys & More', currency: 'USD', commission_margin: 1 } },
  ]);
});
