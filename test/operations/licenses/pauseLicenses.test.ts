import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { expectError } from '../support/errors.ts';
import { licensesOf, licenseUser } from '../support/licenses.ts';

const service = await startTestService();
const { api } = service;

testBulkAction(service, 'licenses/pause');

test('no login with a paused key succeeds; paused and banned keys stay as they are', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [paused, banned] = await licenses.create(2);
  await licenses.pause(paused!.license_id);
  await licenses.ban(banned!.license_id);
  const { license_id, login } = await licenseUser(api, app);
  const license_ids = [paused!.license_id, banned!.license_id, license_id];
  const { body } = await callBulk(service, app, 'licenses/pause', { license_ids });
  expect(body).toMatchObject({ matched: 3, changed: 1 });
  expect(body.unchanged.map(({ code }) => code)).toEqual([
    'LICENSE_STATE_CONFLICT',
    'LICENSE_STATE_CONFLICT',
  ]);
  expectError(await api.loginWithLicense(login), 400, 'LICENSE_UNUSABLE');
  expect((await recorded(service, app, 'license.paused')).events).toHaveLength(2);
});

test('by filter: only keys that match', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [sold] = await licenses.create(1, { note: 'Spring sale' });
  await licenses.create(2);
  const { body } = await callBulk(service, app, 'licenses/pause', { filter: { q: 'spring' } });
  expect(body).toMatchObject({ matched: 1, changed: 1, unchanged: [], next_cursor: null });
  expect((await licenses.list('?status=paused')).body.data).toMatchObject([{ license_id: sold!.license_id }]);
});
