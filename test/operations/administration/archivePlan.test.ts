import { expect, test } from 'vitest';
import {
  ADMINISTRATOR,
  untilPaymentEventsProcessed,
  buy,
  openCheckout,
  payWith,
  becomes,
  sellPlan,
} from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';

const service = await startTestService();
const { api, clock, database } = service;

const archive = (planId: string, token: string | undefined = ADMINISTRATOR.token) =>
  api.call('DELETE', `/api/v2/admin/plans/${planId}`, undefined, { token });
const get = (planId: string) => api.call('GET', `/api/v2/admin/plans/${planId}`, undefined, ADMINISTRATOR);

test('is no longer for sale: neither listed nor found', async () => {
  const plan = await sellPlan(api);
  clock.advance(1000);
  const response = await archive(plan.plan_id);
  expect(response.status).toBe(200);
  expect(response.body).toEqual({ status: 'success', message: 'Plan archived.' });
  expect((await get(plan.plan_id)).body).toEqual({
    ...plan,
    status: 'success',
    archived: true,
    updated_at: clock.now().toISOString(),
  });
  expect((await api.plans()).body.data.map(({ id }) => id)).not.toContain(plan.plan_id);
  const developer = await newDeveloper(api);
  for (const plan_name of [plan.name, plan.plan_id]) {
    expectError(await api.post('/api/v1/checkout', { plan_name }, developer), 400, 'PLAN_NOT_FOUND');
  }
});

test('its developers keep it, and an open checkout can be paid', async () => {
  const [first, second] = [await newDeveloper(api), await newDeveloper(api)];
  const plan = await sellPlan(api, { max_apps: 77 });
  await buy(api, first, plan);
  const opened = await openCheckout(api, second, plan);
  await archive(plan.plan_id);
  expect(await payWith('pays', opened)).toBe(303);
  await becomes(api, second, opened, 'paid');
  await untilPaymentEventsProcessed(service);
  for (const developer of [first, second]) {
    const { body } = await api.call('GET', '/api/v2/dev/me', undefined, developer);
    expect(body).toMatchObject({ plan: { id: plan.plan_id }, quotas: { apps: { limit: 77 } } });
  }
});

test('a second request changes nothing', async () => {
  const plan = await sellPlan(api);
  await archive(plan.plan_id);
  const { body: before } = await get(plan.plan_id);
  clock.advance(1000);
  expect((await archive(plan.plan_id)).status).toBe(200);
  expect((await get(plan.plan_id)).body).toEqual(before);
  const rows = await database.knex('audit_log').where({ target: plan.plan_id, action: 'plan.archived' });
  expect(rows).toMatchObject([{ developer_id: 'administrator', actor_kind: 'administrator', data: {} }]);
});

test('PLAN_IN_USE for the default plan of new developers', async () => {
  expectError(await archive('free'), 409, 'PLAN_IN_USE');
  expect((await get('free')).body).toMatchObject({ archived: false });
});

test('PLAN_NOT_FOUND for an absent one', async () => {
  expectError(await archive('plan_01kazmf2w3x4y5z6a7b8c9d0e1'), 404, 'PLAN_NOT_FOUND');
});

test('UNAUTHORIZED for every other caller', async () => {
  const plan = await sellPlan(api);
  const { token } = await newDeveloper(api);
  expectError(await archive(plan.plan_id, token), 401, 'UNAUTHORIZED');
  expectError(await archive(plan.plan_id, 'nonsense'), 401, 'UNAUTHORIZED');
  expect((await get(plan.plan_id)).body).toMatchObject({ archived: false });
});
