import { expect, test } from 'vitest';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { expectForeignIsAbsent, licensesOf, licenseUser, scoped } from '../support/licenses.ts';

const { api } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('a paused key cannot be redeemed', async () => {
  const [made] = await licenses.create(1);
  const { status, body } = await licenses.pause(made!.license_id);
  expect(status).toBe(200);
  expect(body.license).toMatchObject({ ...made, status: 'paused' });
  const { username } = await newUser(api, app);
  const { license_key } = made!;
  expectError(await api.activate(app.with({ username, license_key })), 400, 'LICENSE_UNUSABLE');
});

test('a paused key does not log in; the session and the subscription continue', async () => {
  const { license_id, login, token } = await licenseUser(api, app);
  expect((await licenses.pause(license_id)).body.license.redeemed_by).toMatch(/^usr_/);
  expectError(await api.loginWithLicense(login), 400, 'LICENSE_UNUSABLE');
  expect((await api.verify({ app_id: app.app_id, token })).body.subscription_tier).toBe('Pro');
});

test('LICENSE_STATE_CONFLICT for a paused or banned key', async () => {
  const [made] = await licenses.create(1);
  await licenses.pause(made!.license_id);
  expectError(await licenses.pause(made!.license_id), 409, 'LICENSE_STATE_CONFLICT');
  await licenses.ban(made!.license_id);
  expectError(await licenses.pause(made!.license_id), 409, 'LICENSE_STATE_CONFLICT');
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const [made] = await licenses.create(1);
  await expectForeignIsAbsent(api, app, made!.license_id, (calls, id) => calls.pause(id));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.pause(made!.license_id), 403, 'INSUFFICIENT_SCOPE');
  expect((await licenses.get(made!.license_id)).body.license.status).toBe('unused');
});
