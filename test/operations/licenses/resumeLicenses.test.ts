import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';

const service = await startTestService();
const { api } = service;

testBulkAction(service, 'licenses/resume');

test('restores the status of each key, and leaves the others', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [unused, other] = await licenses.create(2);
  const held = await redeemed(api, app);
  const license_ids = [unused!, held].map(({ license_id }) => license_id);
  for (const id of license_ids) await licenses.pause(id);
  const wanted = { license_ids: [...license_ids, other!.license_id] };
  const dry = await callBulk(service, app, 'licenses/resume', { ...wanted, dry_run: true });
  const wet = await callBulk(service, app, 'licenses/resume', wanted);
  expect(wet.body).toEqual({
    status: 'success',
    dry_run: false,
    matched: 3,
    changed: 2,
    unchanged: [{ license_id: other!.license_id, code: 'LICENSE_STATE_CONFLICT' }],
    next_cursor: null,
  });
  expect(dry.body).toEqual({ ...wet.body, dry_run: true });
  expect((await licenses.get(unused!.license_id)).body.license.status).toBe('unused');
  expect((await licenses.get(held.license_id)).body.license).toMatchObject({
    status: 'redeemed',
    ban_reason: null,
  });
  const { events, entries } = await recorded(service, app, 'license.resumed');
  expect(events).toHaveLength(2);
  expect(entries.map(({ target }) => target)).toEqual(license_ids.toSorted());
});
