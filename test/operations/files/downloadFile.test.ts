import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { comparable, expectError } from '../support/errors.ts';
import { download, fileOf, newContent, startFileService, upload } from '../support/files.ts';

const { api } = await startFileService();

test('returns every file to the developer, also in parts', async () => {
  const app = await newApp(api);
  const { token } = app;
  const content = newContent();
  await upload(api, app, 'a', content, '?authenticated_only=true');
  const path = `${fileOf(app, 'a')}/content`;
  const whole = await download(api, path, { token });
  expect(whole.content).toEqual(content);
  const part = await download(api, path, { token, headers: { range: 'bytes=10-19' } });
  expect([part.status, part.content]).toEqual([206, content.subarray(10, 20)]);
  const known = { 'if-none-match': whole.headers.get('etag')! };
  expect((await download(api, path, { token, headers: known })).status).toBe(304);
  expect((await download(api, path, { token, headers: { range: 'bytes=1000-' } })).status).toBe(416);
});

test('works for a disabled application', async () => {
  const app = await newApp(api);
  await upload(api, app, 'a', 'x');
  await app.patch({ status: 'disabled' });
  const { content } = await download(api, `${fileOf(app, 'a')}/content`, { token: app.token });
  expect(content.toString()).toBe('x');
});

test('FILE_NOT_FOUND; APPLICATION_NOT_FOUND is the same for another developer’s and an absent one', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await upload(api, app, 'a', 'x');
  const { token } = other;
  const get = (appId: string) =>
    api.call('GET', `${fileOf({ app_id: appId }, 'a')}/content`, undefined, { token });
  expectError(await get(other.app_id), 404, 'FILE_NOT_FOUND');
  const foreign = await get(app.app_id);
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await get('absent'))).toEqual(comparable(foreign));
});
