import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { comparable, expectError } from '../support/errors.ts';
import { fileOf, startFileService, upload } from '../support/files.ts';

const { api } = await startFileService();

test('shows the same as the upload', async () => {
  const app = await newApp(api);
  const uploaded = await upload(api, app, 'a b', 'x', '?version=1&authenticated_only=true');
  const { body } = await api.call('GET', fileOf(app, 'a b'), undefined, { token: app.token });
  expect(body).toEqual(uploaded);
});

test('FILE_NOT_FOUND for another application’s and another case', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await upload(api, other, 'a', 'x');
  await upload(api, app, 'A', 'x');
  const response = await api.call('GET', fileOf(app, 'a'), undefined, { token: app.token });
  expectError(response, 404, 'FILE_NOT_FOUND');
});

test('APPLICATION_NOT_FOUND is the same for another developer’s and an absent one', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await upload(api, app, 'a', 'x');
  const { token } = other;
  const foreign = await api.call('GET', fileOf(app, 'a'), undefined, { token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  const absent = await api.call('GET', fileOf({ app_id: 'absent' }, 'a'), undefined, { token });
  expect(comparable(absent)).toEqual(comparable(foreign));
});
