import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { expectError } from '../support/errors.ts';
import { sha256, startFileService, upload } from '../support/files.ts';

const { api, clock } = await startFileService();

const list = (appId: string, token?: string, headers: Record<string, string> = {}) =>
  api.call('GET', `/api/v2/client/apps/${appId}/files`, undefined, { token, headers });

test('everyone sees public files, a session all files, by name', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  await upload(api, app, 'b', 'x', '?version=2');
  await upload(api, app, 'a', 'x', '?authenticated_only=true');
  const common = { size: 1, sha256: sha256(Buffer.from('x')), updated_at: clock.now().toISOString() };
  const [a, b] = [
    { ...common, name: 'a', version: null },
    { ...common, name: 'b', version: '2' },
  ];
  expect((await list(app.app_id)).body).toEqual({ status: 'success', data: [b] });
  expect((await list(app.app_id, token)).body).toEqual({ status: 'success', data: [a, b] });
});

test('If-None-Match returns 304 until something changes', async () => {
  const app = await newApp(api);
  await upload(api, app, 'a', 'x', '?version=1');
  const known = { 'if-none-match': (await list(app.app_id)).headers.get('etag')! };
  expect((await list(app.app_id, undefined, known)).status).toBe(304);
  clock.advance(SECOND);
  await upload(api, app, 'a', 'x', '?version=2');
  expect((await list(app.app_id, undefined, known)).status).toBe(200);
});

test('SESSION_INVALID, APPLICATION_INACTIVE and APPLICATION_NOT_FOUND', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { token } = await newSession(api, other);
  expectError(await list(app.app_id, token), 401, 'SESSION_INVALID');
  await app.patch({ status: 'disabled' });
  expectError(await list(app.app_id), 401, 'APPLICATION_INACTIVE');
  expectError(await list('absent'), 404, 'APPLICATION_NOT_FOUND');
});
