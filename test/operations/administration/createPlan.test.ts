import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

type Schemas = components['schemas'];
type Created = Schemas['AdminPlanResult'];

const { api, clock, database } = await startTestService();

const create = (body: unknown, headers: Record<string, string> = {}) =>
  api.post<Created>('/api/v2/admin/plans', body, { ...ADMINISTRATOR, headers });
const wish = (fields: object = {}) => ({ name: unique('Plan'), price: 19, ...fields });
const count = async () => (await database.knex('plans').select('plan_id')).length;
const sold = async (id: string) => (await api.plans()).body.data.find((plan) => plan.id === id);

test('creates a subscription plan, which everyone can see', async () => {
  const name = unique('Pro “édition” 🦊');
  const { status, body } = await create({
    kind: 'subscription',
    name,
    price: 19.99,
    currency: 'EUR',
    period: 'monthly',
    max_apps: 100,
    max_users_per_app: 1_000_000,
    max_licenses: 5000,
    features: ['hwid_lock', 'Priorität'],
  });
  expect(status).toBe(201);
  const terms = {
    kind: 'subscription',
    name,
    price: 19.99,
    currency: 'EUR',
    period: 'monthly',
    max_apps: 100,
    max_users_per_app: 1_000_000,
    max_licenses: 5000,
    licenses: null,
    balance: null,
    features: ['hwid_lock', 'Priorität'],
  };
  expect(body).toEqual({
    status: 'success',
    plan_id: expect.stringMatching(/^plan_[0-9a-z]{26}$/) as string,
    ...terms,
    archived: false,
    created_at: clock.now().toISOString(),
    updated_at: clock.now().toISOString(),
  });
  expect(await sold(body.plan_id)).toEqual({ id: body.plan_id, ...terms });
});

test('with only a name and a price it is a lifetime plan, in dollars, with all quotas at zero', async () => {
  const { status, body } = await create(wish({ price: 5 }));
  expect(status).toBe(201);
  expect(body).toMatchObject({
    kind: 'subscription',
    price: 5,
    currency: 'USD',
    period: 'lifetime',
    max_apps: 0,
    max_users_per_app: 0,
    max_licenses: null,
    licenses: null,
    balance: null,
    features: [],
  });
});

describe('a pack', () => {
  test('adds license keys or balance', async () => {
    const licenses = await create(wish({ kind: 'license_quota', licenses: 500 }));
    expect(licenses.body).toMatchObject({ period: 'lifetime', licenses: 500, balance: null });
    const balance = await create(wish({ kind: 'reseller_balance', balance: 0.01, currency: 'USD' }));
    expect(balance.body).toMatchObject({ period: 'lifetime', licenses: null, balance: 0.01 });
    expect(await sold(balance.body.plan_id)).toMatchObject({ kind: 'reseller_balance', balance: 0.01 });
  });

  test('VALIDATION_FAILED without its amount, with that of another kind, or with a period', async () => {
    const before = await count();
    const quota = { kind: 'license_quota', licenses: 1 };
    const money = { kind: 'reseller_balance', balance: 1 };
    for (const [fields, pointer] of [
      [{ kind: 'license_quota' }, '/licenses'],
      [{ ...quota, licenses: null }, '/licenses'],
      [{ ...quota, licenses: 0 }, '/licenses'],
      [{ ...quota, licenses: 1.5 }, '/licenses'],
      [{ ...quota, licenses: 2 ** 31 }, '/licenses'],
      [{ ...quota, balance: 1 }, '/balance'],
      [{ kind: 'reseller_balance' }, '/balance'],
      [{ ...money, balance: null }, '/balance'],
      [{ ...money, balance: 0 }, '/balance'],
      [{ ...money, balance: 0.001 }, '/balance'],
      [{ ...money, balance: 1.5, currency: 'JPY' }, '/balance'],
      [{ ...money, balance: 1e13 + 0.001 }, '/balance'],
      [{ ...money, balance: -1 }, '/balance'],
      [{ ...money, licenses: 1 }, '/licenses'],
      [{ licenses: 1 }, '/licenses'],
      [{ balance: 1 }, '/balance'],
      [{ ...quota, period: 'monthly' }, '/period'],
      [{ ...money, period: 'yearly' }, '/period'],
    ] as const) {
      expectFaults(await create(wish(fields)), pointer);
    }
    expect(await count()).toBe(before);
  });
});

describe('the price', () => {
  test.each([
    [0, 'USD'],
    [0.01, 'USD'],
    [0.07, 'USD'],
    [1.001, 'KWD'],
    [1, 'JPY'],
    [9_999_999_999_999.99, 'USD'],
    [999_999_999_999_999, 'JPY'],
    [1_000_000_000_000, 'IDR'],
  ])('%d %s is kept exactly', async (price, currency) => {
    const { status, body } = await create(wish({ price, currency }));
    expect(status).toBe(201);
    expect(body.price).toBe(price);
    expect((await sold(body.plan_id))!.price).toBe(price);
  });

  test.each([
    [0.001, 'USD'],
    [19.999, 'EUR'],
    [1.5, 'JPY'],
    [1.0001, 'KWD'],
    [1e21, 'USD'],
    [1e-7, 'USD'],
    [10_000_000_000_000, 'USD'],
    [1_000_000_000_000_000, 'JPY'],
    [-1, 'USD'],
    [-0.01, 'USD'],
  ])('%d %s is not a price', async (price, currency) => {
    const before = await count();
    expectFaults(await create(wish({ price, currency })), '/price');
    expect(await count()).toBe(before);
  });

  test.each(['1e400', '-1e400', '-0', '-0.0'])('%s is not a price either', async (number) => {
    const text = JSON.stringify(wish({ price: 1 })).replace('"price":1', `"price":${number}`);
    expectFaults(await create(text), '/price');
  });

  test.each(['USd', 'US', 'USDX', 'XXY', 'ABC', '', 'ÜSD', null, 840])(
    'in the currency %j is not a price',
    async (currency) => expectFaults(await create(wish({ currency })), '/currency'),
  );
});

describe('VALIDATION_FAILED', () => {
  test.each<[string, unknown[]]>([
    [
      'name',
      ['', 'n'.repeat(101), 'a\u0000b', 'a\nb', 'a\tb', 'a\u007fb', 'a\u0085b', null, 7, {}, undefined],
    ],
    ['price', ['19', null, true, [], undefined]],
    ['kind', ['plan', 'Subscription', '', null, 1]],
    ['period', ['weekly', 'Monthly', '', null, 1]],
    ['max_apps', [-1, 1.5, 2 ** 31, '1', null]],
    ['max_users_per_app', [-1, 1.5, 2 ** 31, '1', null]],
    ['max_licenses', [-1, 1.5, 2 ** 31, '1']],
  ])('for %s', async (member, values) => {
    const before = await count();
    for (const value of values) expectFaults(await create(wish({ [member]: value })), `/${member}`);
    expect(await count()).toBe(before);
  });

  test('for invalid features', async () => {
    for (const features of [
      [''],
      ['a\u0000'],
      ['x'.repeat(101)],
      [1],
      [null],
      Array(51).fill('a'),
      'a',
      null,
    ]) {
      expectError(await create(wish({ features })), 400, 'VALIDATION_FAILED');
    }
    expect((await create(wish({ features: Array(50).fill('x'.repeat(100)) }))).status).toBe(201);
  });

  test('lists every fault', async () => expectFaults(await create({}), '/name', '/price'));
});

describe('PLAN_NAME_TAKEN', () => {
  test('for a second plan with the same name and period, unless the first one is archived', async () => {
    const name = unique('Taken');
    const first = await create(wish({ name, period: 'monthly' }));
    const before = await count();
    expectError(await create(wish({ name, period: 'monthly', price: 1 })), 409, 'PLAN_NAME_TAKEN');
    expect(await count()).toBe(before);
    expect((await create(wish({ name, period: 'yearly' }))).status).toBe(201);
    expect((await create(wish({ name }))).status).toBe(201);
    const pack = wish({ name, kind: 'license_quota', licenses: 1 });
    expectError(await create(pack), 409, 'PLAN_NAME_TAKEN');
    const path = `/api/v2/admin/plans/${first.body.plan_id}`;
    await api.call('DELETE', path, undefined, ADMINISTRATOR);
    expect((await create(wish({ name, period: 'monthly' }))).status).toBe(201);
  });

  test('for all but one of several concurrent requests', async () => {
    const name = unique('Race');
    const responses = await Promise.all(Array.from({ length: 8 }, () => create(wish({ name }))));
    expect(responses.map(({ status }) => status).sort()).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });
});

test('an Idempotency-Key creates one plan with two requests', async () => {
  const key = { 'idempotency-key': unique('key') };
  const body = wish();
  const before = await count();
  const [first, second] = [await create(body, key), await create(body, key)];
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await count()).toBe(before + 1);
  expectError(await create(wish(), key), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test("is in the audit log under the administrator's name, without the token", async () => {
  const { body } = await create(wish({ price: 1.5, period: 'yearly', max_apps: 3 }));
  const rows = await database.knex('audit_log').where({ target: body.plan_id });
  expect(rows).toMatchObject([
    {
      developer_id: 'administrator',
      actor_kind: 'administrator',
      actor_id: 'administrator',
      address: '127.0.0.1',
      action: 'plan.created',
      data: {
        name: body.name,
        kind: 'subscription',
        price_minor: 150,
        currency: 'USD',
        period: 'yearly',
        max_apps: 3,
      },
    },
  ]);
  expect(JSON.stringify(rows)).not.toContain(ADMINISTRATOR.token);
});

test('UNAUTHORIZED for every other caller', async () => {
  const { token } = await newDeveloper(api);
  for (const other of [undefined, token, 'nonsense', ADMINISTRATOR.token.slice(1)]) {
    const response = await api.post('/api/v2/admin/plans', wish(), { token: other });
    expectError(response, 401, 'UNAUTHORIZED');
  }
});
