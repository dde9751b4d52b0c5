import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { reinstate, suspend } from '../support/developer-accounts.ts';
import { expectError } from '../support/errors.ts';
import { auditLog } from '../support/tokens.ts';

// suspendDeveloper.test.ts tests what a reinstatement restores.
const { api } = await startTestService();

test('ends a suspension', async () => {
  const developer = await newDeveloper(api);
  await suspend(api, developer.developerId, { reason: 'Chargebacks' });
  const { status, body } = await reinstate(api, developer.developerId);
  expect(status).toBe(200);
  expect(body).toMatchObject({ account_status: 'active', suspended_at: null, suspension_reason: null });
});

test('changes nothing of an active account', async () => {
  const developer = await newDeveloper(api);
  expect((await reinstate(api, developer.developerId)).body.account_status).toBe('active');
  expect(await auditLog(api, developer, '&actor_kind=administrator')).toEqual([]);
});

test('DEVELOPER_NOT_FOUND and UNAUTHORIZED', async () => {
  const developer = await newDeveloper(api);
  expectError(await reinstate(api, 'dev_absent'), 404, 'DEVELOPER_NOT_FOUND');
  const path = `/api/v2/admin/developers/${developer.developerId}/reinstate`;
  expectError(await api.call('POST', path, undefined, developer), 401, 'UNAUTHORIZED');
});
