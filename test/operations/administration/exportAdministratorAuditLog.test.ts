import { expect, test } from 'vitest';
import { ADMINISTRATOR, sellPlan } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api } = await startTestService();

const PATH = '/api/v2/admin/audit-log/export';
const exported = (query = '', token = ADMINISTRATOR.token) =>
  api.call('GET', PATH + query, undefined, { token });

test('has what the administrator did, and nothing of a developer', async () => {
  await newDeveloper(api);
  const plan = await sellPlan(api);
  const { body, headers } = await exported('?action_prefix=plan.&actor_kind=administrator');
  expect(headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"');
  const lines = (body as unknown as string).trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines.at(-1)).toContain(plan.plan_id);
  expect(String((await exported('?actor_kind=developer')).body)).not.toContain('dev_');
});

test('VALIDATION_FAILED and UNAUTHORIZED', async () => {
  expectFaults(await exported('?actor_kind=robot'), 'query/actor_kind');
  const { token } = await newDeveloper(api);
  expectError(await exported('', token), 401, 'UNAUTHORIZED');
});
