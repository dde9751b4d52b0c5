import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { expectError } from '../support/errors.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';

const service = await startTestService();
const { api } = service;

testBulkAction(service, 'licenses/delete');

test('deletes unused keys only', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [unused, paused] = await licenses.create(2);
  const held = await redeemed(api, app);
  await licenses.pause(paused!.license_id);
  const license_ids = [unused!, paused!, held].map(({ license_id }) => license_id);
  const dry = await callBulk(service, app, 'licenses/delete', { license_ids, dry_run: true });
  expect((await licenses.get(unused!.license_id)).status).toBe(200);
  const wet = await callBulk(service, app, 'licenses/delete', { license_ids });
  expect(wet.body).toMatchObject({ matched: 3, changed: 1 });
  expect(dry.body).toEqual({ ...wet.body, dry_run: true });
  expectError(await licenses.get(unused!.license_id), 404, 'LICENSE_NOT_FOUND');
  expect((await licenses.list()).body.data).toHaveLength(2);
  const { events, entries } = await recorded(service, app, 'license.deleted');
  expect(events.map(({ data }) => data)).toEqual([{ license_id: unused!.license_id, tier: 'Pro' }]);
  expect(entries).toHaveLength(1);
});
