import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ADMINISTRATOR, sellPlan } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';

const { api } = await startTestService();

const get = (planId: string, token: string | undefined = ADMINISTRATOR.token) =>
  api.call<components['schemas']['AdminPlanResult']>('GET', `/api/v2/admin/plans/${planId}`, undefined, {
    token,
  });

test('shows a plan as created, and the default plan', async () => {
  const plan = await sellPlan(api, { kind: 'license_quota', period: 'lifetime', licenses: 7 });
  const { status, body } = await get(plan.plan_id);
  expect(status).toBe(200);
  expect(body).toEqual({ ...plan, status: 'success' });
  expect((await get('free')).body).toMatchObject({
    plan_id: 'free',
    name: 'Free',
    price: 0,
    archived: false,
  });
});

test('shows an archived plan', async () => {
  const plan = await sellPlan(api);
  await api.call('DELETE', `/api/v2/admin/plans/${plan.plan_id}`, undefined, ADMINISTRATOR);
  expect((await get(plan.plan_id)).body).toMatchObject({ plan_id: plan.plan_id, archived: true });
});

test('PLAN_NOT_FOUND for an absent one, also by a name', async () => {
  const plan = await sellPlan(api);
  const absent = await get('plan_01kazmf2w3x4y5z6a7b8c9d0e1');
  expectError(absent, 404, 'PLAN_NOT_FOUND');
  for (const id of [plan.name, 'Free', 'FREE', 'plan', "'--"])
    expect(comparable(await get(encodeURIComponent(id)))).toEqual(comparable(absent));
});

test('UNAUTHORIZED for every other caller, whether the plan exists or not', async () => {
  const { token } = await newDeveloper(api);
  for (const id of ['free', 'absent']) expectError(await get(id, token), 401, 'UNAUTHORIZED');
  expectError(await api.call('GET', '/api/v2/admin/plans/free'), 401, 'UNAUTHORIZED');
});
