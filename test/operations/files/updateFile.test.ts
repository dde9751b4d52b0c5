import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp } from '../../support/fixtures.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { download, downloadOf, fileOf, startFileService, upload } from '../support/files.ts';
import { auditOf } from '../support/variables.ts';

const { api, clock } = await startFileService();

test('changes what is sent, and nothing else', async () => {
  const app = await newApp(api);
  const patch = async (body: object) =>
    (await api.call('PATCH', fileOf(app, 'a'), body, { token: app.token })).body;
  const uploaded = await upload(api, app, 'a', 'x', '?version=1');
  clock.advance(SECOND);
  const updated_at = clock.now().toISOString();
  expect(await patch({})).toEqual(uploaded);
  expect(await patch({ version: '1', authenticated_only: false })).toEqual(uploaded);
  expect(await patch({ version: '2' })).toEqual({ ...uploaded, version: '2', updated_at });
  expect(await patch({ authenticated_only: true })).toMatchObject({ version: '2', authenticated_only: true });
  expect((await download(api, downloadOf(app, 'a'))).status).toBe(401);
  expect(await patch({ version: null, authenticated_only: false })).toMatchObject({ version: null });
  const { content, headers } = await download(api, downloadOf(app, 'a'));
  expect([content.toString(), headers.get('x-file-version')]).toEqual(['x', null]);
  const log = (await auditOf(api, app)) as { action: string }[];
  expect(log.filter(({ action }) => action === 'file.updated')).toHaveLength(3);
});

test.each<[object, string]>([
  [{ version: '' }, '/version'],
  [{ version: ' 1' }, '/version'],
  [{ version: 1 }, '/version'],
  [{ version: 'ä' }, '/version'],
  [{ authenticated_only: 'true' }, '/authenticated_only'],
  [{ authenticated_only: null }, '/authenticated_only'],
])('VALIDATION_FAILED for %j', async (body, pointer) => {
  const app = await newApp(api);
  expectFaults(await api.call('PATCH', fileOf(app, 'a'), body, { token: app.token }), pointer);
});

test('FILE_NOT_FOUND, and APPLICATION_NOT_FOUND for another developer’s', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await upload(api, app, 'a', 'x');
  const body = { version: '2' };
  expectError(
    await api.call('PATCH', fileOf(other, 'a'), body, { token: other.token }),
    404,
    'FILE_NOT_FOUND',
  );
  expectError(
    await api.call('PATCH', fileOf(app, 'a'), body, { token: other.token }),
    404,
    'APPLICATION_NOT_FOUND',
  );
});
