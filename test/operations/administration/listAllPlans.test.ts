import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ADMINISTRATOR, sellPlan } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api } = await startTestService();

const list = (query = '', token: string | undefined = ADMINISTRATOR.token) =>
  api.call<components['schemas']['AdminPlanList']>('GET', `/api/v2/admin/plans${query}`, undefined, {
    token,
  });

test('lists every plan, the newest first, archived ones too, and the first of all last', async () => {
  expect((await list()).body.data.map(({ plan_id }) => plan_id)).toEqual(['free']);
  const plans = [await sellPlan(api), await sellPlan(api, { price: 0 }), await sellPlan(api)];
  await api.call('DELETE', `/api/v2/admin/plans/${plans[1]!.plan_id}`, undefined, ADMINISTRATOR);
  const { status, body } = await list();
  expect(status).toBe(200);
  expect(body.next_cursor).toBeNull();
  expect(body.data.map(({ plan_id, archived }) => [plan_id, archived])).toEqual([
    [plans[2]!.plan_id, false],
    [plans[1]!.plan_id, true],
    [plans[0]!.plan_id, false],
    ['free', false],
  ]);
  const { status: _status, ...first } = plans[2] as (typeof plans)[0] & { status?: string };
  expect(body.data[0]).toEqual(first);
});

test('in pages, to the very last', async () => {
  for (let n = 0; n < 3; n += 1) await sellPlan(api);
  const whole = (await list('?limit=100')).body.data;
  for (const limit of [1, 2, whole.length - 1, whole.length]) {
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const { body } = await list(`?limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`);
      ids.push(...body.data.map(({ plan_id }) => plan_id));
      cursor = body.next_cursor;
    } while (cursor);
    expect(ids).toEqual(whole.map(({ plan_id }) => plan_id));
  }
});

test('VALIDATION_FAILED for invalid pages', async () => {
  for (const limit of ['0', '101', 'x']) expectFaults(await list(`?limit=${limit}`), 'query/limit');
  expectError(await list('?cursor=x'), 400, 'VALIDATION_FAILED');
});

test('UNAUTHORIZED for every other caller', async () => {
  const { token } = await newDeveloper(api);
  expectError(await list('', token), 401, 'UNAUTHORIZED');
  expectError(await api.call('GET', '/api/v2/admin/plans'), 401, 'UNAUTHORIZED');
});
