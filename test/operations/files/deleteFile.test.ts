import { describe, expect, test } from 'vitest';
import { clearDeletedApplication } from '../../../src/app/housekeeping.ts';
import { SECOND } from '../../support/clock.ts';
import { newApp } from '../../support/fixtures.ts';
import { expectError } from '../support/errors.ts';
import { download, downloadOf, fileOf, startFileService, upload } from '../support/files.ts';
import { auditOf } from '../support/variables.ts';

const { api, clock, services, contents } = await startFileService();
const GRACE = 300 * SECOND;

test('deletes the file at once', async () => {
  const app = await newApp(api);
  const { file_id } = await upload(api, app, 'a', 'x');
  const remove = () => api.call('DELETE', fileOf(app, 'a'), undefined, { token: app.token });
  expect((await remove()).body).toEqual({ status: 'success', message: 'File deleted.' });
  expect((await download(api, downloadOf(app, 'a'))).status).toBe(404);
  expectError(await remove(), 404, 'FILE_NOT_FOUND');
  expect((await auditOf(api, app))[0]).toMatchObject({
    action: 'file.deleted',
    target: file_id,
    data: { file_id, name: 'a' },
  });
  expect((await upload(api, app, 'a', 'y')).file_id).not.toBe(file_id);
});

describe('contents are cleared', () => {
  const clear = async () => {
    while ((await services.files.clearContents()) > 0);
  };

  test('of deleted and replaced files, after the grace in which they may still be opened', async () => {
    clock.advance(GRACE);
    await clear();
    const app = await newApp(api);
    const before = await contents();
    await upload(api, app, 'a', '1');
    await upload(api, app, 'a', '2');
    await upload(api, app, 'b', '3');
    await api.call('DELETE', fileOf(app, 'b'), undefined, { token: app.token });
    await clear();
    expect(await contents()).toHaveLength(before.length + 3);
    clock.advance(GRACE);
    await clear();
    expect(await contents()).toHaveLength(before.length + 1);
    expect((await download(api, downloadOf(app, 'a'))).content.toString()).toBe('2');
  });

  test('of deleted applications', async () => {
    const before = await contents();
    const app = await newApp(api);
    for (const name of ['a', 'b', 'c']) await upload(api, app, name, name);
    await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    expect((await download(api, downloadOf(app, 'a'))).status).toBe(404);
    while ((await clearDeletedApplication(services)) > 0);
    clock.advance(GRACE);
    await clear();
    expect(await contents()).toEqual(before);
  });
});

test('APPLICATION_NOT_FOUND for another developer’s, and nothing is deleted', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await upload(api, app, 'a', 'x');
  const response = await api.call('DELETE', fileOf(app, 'a'), undefined, { token: other.token });
  expectError(response, 404, 'APPLICATION_NOT_FOUND');
  expect((await download(api, downloadOf(app, 'a'))).status).toBe(200);
});
