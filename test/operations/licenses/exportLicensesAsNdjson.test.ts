import { expect, test } from 'vitest';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { licensesOf, redeemed, scoped } from '../support/licenses.ts';

const { api } = await startTestService();
const lines = (text: string) => text.split('\n').slice(0, -1);

test('lines of JSON, equal to the items of the list', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  await licenses.create(3, { note: '=1+1' });
  await redeemed(api, app, { duration_days: null });
  const { status, headers, body } = await licenses.exportLines();
  expect([status, headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(headers.get('content-disposition')).toBe('attachment; filename="licenses.ndjson"');
  expect(lines(body).map((line) => JSON.parse(line) as unknown)).toEqual((await licenses.list()).body.data);
});

test('2,501 keys, each once', async () => {
  const licenses = licensesOf(api, await newApp(api));
  const made = (await licenses.create(2_501)).map(({ license_key }) => license_key).reverse();
  const objects = lines((await licenses.exportLines()).body);
  expect(objects.map((line) => (JSON.parse(line) as { license_key: string }).license_key)).toEqual(made);
});

test('keys that match the filters', async () => {
  const licenses = licensesOf(api, await newApp(api));
  const [vip] = await licenses.create(1, { tier: 'VIP' });
  await licenses.create(1);
  const [found, ...others] = lines((await licenses.exportLines('?tier=VIP')).body);
  expect(others).toEqual([]);
  expect(JSON.parse(found!)).toMatchObject({ license_key: vip!.license_key, lifetime: false });
  expect((await licenses.exportLines('?status=paused')).body).toBeUndefined();
  expectFaults(await licenses.exportLines('?status=lost'), 'query/status');
});

test('requires the scope read, and an application of the developer', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  const foreign = await licensesOf(api, { app_id: app.app_id, token }).exportLines();
  expectError(foreign as never, 404, 'APPLICATION_NOT_FOUND');
  const writer = licensesOf(api, await scoped(api, app, 'write'));
  expectError((await writer.exportLines()) as never, 403, 'INSUFFICIENT_SCOPE');
});
