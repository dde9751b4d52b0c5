import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';

const { api } = await startTestService();

const get = (app_id: string, token: string | undefined) =>
  api.call<components['schemas']['ApplicationResult']>('GET', `/api/v2/dev/apps/${app_id}`, undefined, {
    token,
  });

test('shows the same members as createApplication and listApplications, without the secret', async () => {
  const developer = await newDeveloper(api);
  const { token } = developer;
  const created = await api.post('/api/v2/dev/apps', { name: 'Aurora' }, { token });
  const { secret, signing_keys: keys, ...shown } = created.body;
  const { status, body } = await get(String(created.body['app_id']), token);
  expect(status).toBe(200);
  expect([secret, keys]).not.toContain(undefined);
  expect(body).toEqual(shown);
  const listed = await api.call<components['schemas']['ApplicationList']>(
    'GET',
    '/api/v2/dev/apps',
    undefined,
    {
      token,
    },
  );
  expect({ status: 'success', ...listed.body.data[0] }).toEqual(body);
});

test('counts its users', async () => {
  const app = await newApp(api);
  await newUser(api, app);
  await newUser(api, app);
  expect((await get(app.app_id, app.token)).body.users).toBe(2);
});

test("APPLICATION_NOT_FOUND is the same for another developer's, an absent and a deleted one", async () => {
  const [developer, stranger] = [await newDeveloper(api), await newDeveloper(api)];
  const [app, gone] = [await newApp(api, developer), await newApp(api, developer)];
  await api.call('DELETE', `/api/v2/dev/apps/${gone.app_id}`, undefined, { token: developer.token });
  const absent = await get('app_01kazm4q7ffx8v5t2w9y3b6n1c', stranger.token);
  expectError(absent, 404, 'APPLICATION_NOT_FOUND');
  const foreign = await get(app.app_id, stranger.token);
  expect(comparable(foreign)).toEqual(comparable(absent));
  expect([...foreign.headers.keys()]).toEqual([...absent.headers.keys()]);
  expect(comparable(await get(gone.app_id, developer.token))).toEqual(comparable(absent));
  for (const odd of [app.app_id.toUpperCase(), `${app.app_id}%20`, '%F0%9F%A6%8A', "'%20or%201=1", '..%2f']) {
    expect(comparable(await get(odd, developer.token))).toEqual(comparable(absent));
  }
});

test('VALIDATION_FAILED for an invalid identifier', async () => {
  const { token } = await newDeveloper(api);
  expectError(await get('a'.repeat(65), token), 400, 'VALIDATION_FAILED');
  expectError(await get('%00', token), 400, 'VALIDATION_FAILED');
  expectError(await get('%ff', token), 400, 'MALFORMED_REQUEST');
  expectError(await get('%zz', token), 400, 'MALFORMED_REQUEST');
});

test('UNAUTHORIZED without a token', async () => {
  const app = await newApp(api);
  expectError(await get(app.app_id, undefined), 401, 'UNAUTHORIZED');
});
