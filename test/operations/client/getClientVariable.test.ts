import { expect, test } from 'vitest';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { putUserVariable, setVariable } from '../support/variables.ts';

const { api } = await startTestService();

const get = (appId: string, name: string, token?: string, headers: Record<string, string> = {}) =>
  api.call('GET', `/api/v2/client/apps/${appId}/variables/${name}`, undefined, { token, headers });

test('shows the same as the list', async () => {
  const app = await newApp(api);
  const { token, user } = await newSession(api, app);
  await setVariable(api, app, 'a', 'public');
  await setVariable(api, app, 'b', 'for sessions', 'session');
  await putUserVariable(api, app, user!.id!, 'a', 'own');
  await putUserVariable(api, app, user!.id!, 'c', 'own');
  const show = async (name: string, asker?: string) => (await get(app.app_id, name, asker)).body;
  const found = { status: 'success', source: 'application' };
  expect(await show('a')).toEqual({ ...found, name: 'a', value: 'public' });
  expect(await show('a', token)).toEqual({ ...found, name: 'a', value: 'own', source: 'user' });
  expect(await show('b', token)).toEqual({ ...found, name: 'b', value: 'for sessions' });
  expect(await show('c', token)).toEqual({ ...found, name: 'c', value: 'own', source: 'user' });
});

test('VARIABLE_NOT_FOUND is the same for absent and invisible variables', async () => {
  const app = await newApp(api);
  const [ada, bob] = [await newSession(api, app), await newSession(api, app)];
  await setVariable(api, app, 'secretly', 'v', 'session');
  await putUserVariable(api, app, ada.user!.id!, 'adas', 'v');
  const absent = await get(app.app_id, 'absent');
  expectError(absent, 404, 'VARIABLE_NOT_FOUND');
  expect(comparable(await get(app.app_id, 'secretly'))).toEqual(comparable(absent));
  expect(comparable(await get(app.app_id, 'adas'))).toEqual(comparable(absent));
  expect(comparable(await get(app.app_id, 'adas', bob.token))).toEqual(comparable(absent));
});

test('If-None-Match returns 304 until the value changes, or another one overrides it', async () => {
  const app = await newApp(api);
  const { token, user } = await newSession(api, app);
  await setVariable(api, app, 'a', '1');
  const tag = (await get(app.app_id, 'a')).headers.get('etag')!;
  const known = { 'if-none-match': tag };
  expect((await get(app.app_id, 'a', undefined, known)).status).toBe(304);
  await setVariable(api, app, 'a', '1', 'session');
  expect((await get(app.app_id, 'a', token, known)).status).toBe(304);
  await putUserVariable(api, app, user!.id!, 'a', '1');
  expect((await get(app.app_id, 'a', token, known)).status).toBe(200);
});

test('SESSION_INVALID for another application’s token; APPLICATION_INACTIVE and APPLICATION_NOT_FOUND', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await setVariable(api, app, 'a', '1');
  const { token } = await newSession(api, other);
  expectError(await get(app.app_id, 'a', token), 401, 'SESSION_INVALID');
  await app.patch({ status: 'disabled' });
  expectError(await get(app.app_id, 'a'), 401, 'APPLICATION_INACTIVE');
  expectError(await get('absent', 'a'), 404, 'APPLICATION_NOT_FOUND');
});

test('VALIDATION_FAILED for an invalid name', async () => {
  expectFaults(await get((await newApp(api)).app_id, 'a%20b'), 'path/name');
});
