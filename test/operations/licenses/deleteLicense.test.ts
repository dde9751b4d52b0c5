import { expect, test } from 'vitest';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { expectForeignIsAbsent, licensesOf, redeemed, scoped } from '../support/licenses.ts';

const { api } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('deletes an unused key once', async () => {
  const [made, other] = await licenses.create(2);
  const { status, body } = await licenses.delete(made!.license_id);
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'License deleted.' } });
  expectError(await licenses.delete(made!.license_id), 404, 'LICENSE_NOT_FOUND');
  expectError(await licenses.get(made!.license_id), 404, 'LICENSE_NOT_FOUND');
  const { username } = await newUser(api, app);
  const { license_key } = made!;
  expectError(await api.activate(app.with({ username, license_key })), 404, 'LICENSE_NOT_FOUND');
  expect((await licenses.get(other!.license_id)).status).toBe(200);
});

test('LICENSE_STATE_CONFLICT for a key that is redeemed, paused or banned, which stays', async () => {
  const [paused, banned] = await licenses.create(2);
  const used = await redeemed(api, app);
  await licenses.pause(paused!.license_id);
  await licenses.ban(banned!.license_id);
  for (const { license_id } of [paused!, banned!, used]) {
    expectError(await licenses.delete(license_id), 409, 'LICENSE_STATE_CONFLICT');
    expect((await licenses.get(license_id)).status).toBe(200);
  }
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const [made] = await licenses.create(1);
  await expectForeignIsAbsent(api, app, made!.license_id, (calls, id) => calls.delete(id));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.delete(made!.license_id), 403, 'INSUFFICIENT_SCOPE');
  expect((await licenses.get(made!.license_id)).status).toBe(200);
});
