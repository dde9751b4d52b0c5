import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  buy,
  openCheckout,
  sellPlan,
} from '../../support/billing.ts';
import { newApp, newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

type Schemas = components['schemas'];
type Plan = Schemas['AdminPlanResult'];

const service = await startTestService();
const { api, clock, database } = service;

const update = (planId: string, body: unknown, token: string | undefined = ADMINISTRATOR.token) =>
  api.call<Plan>('PATCH', `/api/v2/admin/plans/${planId}`, body, { token });
const get = async (planId: string) =>
  (await api.call<Plan>('GET', `/api/v2/admin/plans/${planId}`, undefined, ADMINISTRATOR)).body;
const entries = (planId: string) =>
  database.knex('audit_log').where({ target: planId, action: 'plan.updated' }).orderBy('audit_id');

test('changes what is sent, and nothing else', async () => {
  const plan = await sellPlan(api, { features: ['a'], max_licenses: 10 });
  clock.advance(1000);
  const name = unique('Renamed 🦊');
  for (const [changes, as] of [
    [{ price: 0.01 }, { price: 0.01 }],
    [{ name }, { name }],
    [
      { max_apps: 0, max_users_per_app: 2_147_483_647 },
      { max_apps: 0, max_users_per_app: 2_147_483_647 },
    ],
    [{ max_licenses: 0 }, { max_licenses: 0 }],
    [{ max_licenses: null }, { max_licenses: null }],
    [{ features: [] }, { features: [] }],
  ] as const) {
    const before = await get(plan.plan_id);
    const { status, body } = await update(plan.plan_id, changes);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...as, updated_at: clock.now().toISOString() });
    expect(await get(plan.plan_id)).toEqual(body);
  }
});

test('an empty change, or one of immutable members, has no effect', async () => {
  const plan = await sellPlan(api);
  const before = await get(plan.plan_id);
  clock.advance(1000);
  for (const body of [
    {},
    { kind: 'license_quota', licenses: 5, currency: 'EUR', period: 'yearly', balance: 1, archived: true },
    { plan_id: 'free', created_at: '2020-01-01T00:00:00Z' },
  ]) {
    expect((await update(plan.plan_id, body)).body).toEqual(before);
  }
  expect(await get(plan.plan_id)).toEqual(before);
  expect(await entries(plan.plan_id)).toEqual([]);
});

test('quotas apply immediately to all developers on the plan', async () => {
  const developer = await newDeveloper(api);
  const plan = await sellPlan(api, { period: 'lifetime', max_apps: 1 });
  await buy(api, developer, plan);
  await untilPaymentEventsProcessed(service);
  await newApp(api, developer);
  const more = () => api.post('/api/v2/dev/apps', { name: unique('App') }, developer);
  expectError(await more(), 403, 'QUOTA_EXCEEDED');
  await update(plan.plan_id, { max_apps: 2 });
  expect((await more()).status).toBe(201);
  await update(plan.plan_id, { max_apps: 0 });
  expectError(await more(), 403, 'QUOTA_EXCEEDED');
});

test('the price applies to later purchases', async () => {
  const developer = await newDeveloper(api);
  const plan = await sellPlan(api, { price: 10 });
  const opened = await openCheckout(api, developer, plan);
  await update(plan.plan_id, { price: 20 });
  const amount = async (id: string) =>
    (await api.call('GET', `/api/v2/dev/checkouts/${id}`, undefined, developer)).body['amount'];
  expect(await amount(opened.sessionId)).toBe(10);
  expect(await amount((await openCheckout(api, developer, plan)).sessionId)).toBe(20);
});

describe('VALIDATION_FAILED', async () => {
  const { plan_id } = await sellPlan(api);
  const inYen = await sellPlan(api, { currency: 'JPY', price: 100 });

  test.each<[string, unknown[]]>([
    ['name', ['', 'n'.repeat(101), 'a\u0000b', 'a\r\nb', 'a\u009fb', null, 7]],
    ['price', [0.001, 1e21, 1e-7, -1, '19', null, 10_000_000_000_000]],
    ['max_apps', [-1, 1.5, 2 ** 31, '1', null]],
    ['max_users_per_app', [-1, 1.5, 2 ** 31, '1', null]],
    ['max_licenses', [-1, 1.5, 2 ** 31, '1']],
  ])('for %s', async (member, values) => {
    const before = await get(plan_id);
    for (const value of values) expectFaults(await update(plan_id, { [member]: value }), `/${member}`);
    expect(await get(plan_id)).toEqual(before);
  });

  test("for a price that the plan's currency cannot hold", async () => {
    expectFaults(await update(inYen.plan_id, { price: 1.5 }), '/price');
    expect((await update(inYen.plan_id, { price: 999_999_999_999_999 })).status).toBe(200);
  });

  test('for a price of the default plan', async () => {
    expectFaults(await update('free', { price: 1 }), '/price');
    expect((await update('free', { price: 0, max_apps: 26 })).body).toMatchObject({ price: 0, max_apps: 26 });
    await update('free', { max_apps: 25 });
  });
});

test('PLAN_NAME_TAKEN for the name of another plan of the period, and nothing has changed', async () => {
  const [one, other] = [await sellPlan(api), await sellPlan(api)];
  const before = await get(one.plan_id);
  expectError(await update(one.plan_id, { name: other.name, price: 1 }), 409, 'PLAN_NAME_TAKEN');
  expect(await get(one.plan_id)).toEqual(before);
  expect((await update(one.plan_id, { name: one.name })).status).toBe(200);
  const yearly = await sellPlan(api, { period: 'yearly' });
  expect((await update(yearly.plan_id, { name: one.name })).status).toBe(200);
});

test('PLAN_NOT_FOUND for an absent one', async () => {
  for (const id of ['plan_01kazmf2w3x4y5z6a7b8c9d0e1', 'x', '%25'])
    expectError(await update(id, { price: 1 }), 404, 'PLAN_NOT_FOUND');
});

test("is in the audit log, with the plan's new terms", async () => {
  const plan = await sellPlan(api);
  await update(plan.plan_id, { price: 21.5, max_apps: 7 });
  expect(await entries(plan.plan_id)).toMatchObject([
    {
      developer_id: 'administrator',
      actor_kind: 'administrator',
      data: { name: plan.name, price_minor: 2150, max_apps: 7 },
    },
  ]);
});

test('UNAUTHORIZED for every other caller', async () => {
  const { token } = await newDeveloper(api);
  expectError(await update('free', { max_apps: 1000 }, token), 401, 'UNAUTHORIZED');
  expectError(await update('free', { max_apps: 1000 }, 'nonsense'), 401, 'UNAUTHORIZED');
  expect((await get('free')).max_apps).toBe(25);
});
