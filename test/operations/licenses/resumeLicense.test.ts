import { expect, test } from 'vitest';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { expectForeignIsAbsent, licensesOf, licenseUser, scoped } from '../support/licenses.ts';

const { api } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('an unused key can be redeemed again', async () => {
  const [made] = await licenses.create(1);
  await licenses.pause(made!.license_id);
  expect((await licenses.resume(made!.license_id)).body.license).toMatchObject({ ...made, status: 'unused' });
  const { username } = await newUser(api, app);
  const { license_key } = made!;
  expect((await api.activate(app.with({ username, license_key }))).status).toBe(200);
});

test('a redeemed key is redeemed again, and logs in', async () => {
  const { license_id, login } = await licenseUser(api, app);
  const before = (await licenses.get(license_id)).body.license;
  await licenses.pause(license_id);
  expect((await licenses.resume(license_id)).body.license).toEqual(before);
  expect((await api.loginWithLicense(login)).status).toBe(200);
});

test('LICENSE_STATE_CONFLICT for a key that is not paused, such as a banned one', async () => {
  const [made] = await licenses.create(1);
  expectError(await licenses.resume(made!.license_id), 409, 'LICENSE_STATE_CONFLICT');
  await licenses.pause(made!.license_id);
  await licenses.ban(made!.license_id);
  expectError(await licenses.resume(made!.license_id), 409, 'LICENSE_STATE_CONFLICT');
  expect((await licenses.get(made!.license_id)).body.license.status).toBe('banned');
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const [made] = await licenses.create(1);
  await licenses.pause(made!.license_id);
  await expectForeignIsAbsent(api, app, made!.license_id, (calls, id) => calls.resume(id));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.resume(made!.license_id), 403, 'INSUFFICIENT_SCOPE');
});
