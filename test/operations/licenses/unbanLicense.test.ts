import { expect, test } from 'vitest';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { expectForeignIsAbsent, licensesOf, licenseUser, redeemed, scoped } from '../support/licenses.ts';

const { api } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('an unused key can be redeemed again', async () => {
  const [made] = await licenses.create(1);
  await licenses.ban(made!.license_id, { reason: 'r' });
  const { status, body } = await licenses.unban(made!.license_id);
  expect(status).toBe(200);
  expect(body.license).toMatchObject({ ...made, status: 'unused', ban_reason: null });
  const { username } = await newUser(api, app);
  const { license_key } = made!;
  expect((await api.activate(app.with({ username, license_key }))).status).toBe(200);
});

test('a redeemed key is redeemed again, and logs in', async () => {
  const { license_id, login } = await licenseUser(api, app);
  const before = (await licenses.get(license_id)).body.license;
  await licenses.ban(license_id);
  expect((await licenses.unban(license_id)).body.license).toEqual(before);
  expect((await api.loginWithLicense(login)).status).toBe(200);
});

test('a key that was paused before is paused again, and usable after a resume', async () => {
  const [unused] = await licenses.create(1);
  const { license_id: used } = await redeemed(api, app);
  for (const [id, status] of [
    [unused!.license_id, 'unused'],
    [used, 'redeemed'],
  ] as const) {
    await licenses.pause(id);
    await licenses.ban(id);
    expect((await licenses.unban(id)).body.license.status).toBe('paused');
    expect((await licenses.resume(id)).body.license.status).toBe(status);
    await licenses.ban(id);
    expect((await licenses.unban(id)).body.license.status).toBe(status);
  }
  const { username } = await newUser(api, app);
  const { license_key } = unused!;
  expect((await api.activate(app.with({ username, license_key }))).status).toBe(200);
});

test('a key that was imported as banned is unused', async () => {
  await licenses.import('license_key,tier,duration_days,status\nBANNED-KEY-1,Pro,30,banned\n');
  const { data } = (await licenses.list('?status=banned')).body;
  expect(data.map(({ license_key }) => license_key)).toEqual(['BANNED-KEY-1']);
  expect((await licenses.unban(data[0]!.license_id)).body.license.status).toBe('unused');
});

test('a ban of its user stays', async () => {
  const { license_id, user } = await redeemed(api, app);
  await licenses.ban(license_id, { ban_user: true });
  expect((await licenses.unban(license_id)).body.license.status).toBe('redeemed');
  expectError(await api.login(app.with(user)), 403, 'USER_BANNED');
});

test('LICENSE_STATE_CONFLICT for a key that is not banned', async () => {
  const [made] = await licenses.create(1);
  expectError(await licenses.unban(made!.license_id), 409, 'LICENSE_STATE_CONFLICT');
  await licenses.pause(made!.license_id);
  expectError(await licenses.unban(made!.license_id), 409, 'LICENSE_STATE_CONFLICT');
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const [made] = await licenses.create(1);
  await licenses.ban(made!.license_id);
  await expectForeignIsAbsent(api, app, made!.license_id, (calls, id) => calls.unban(id));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.unban(made!.license_id), 403, 'INSUFFICIENT_SCOPE');
  expect((await licenses.get(made!.license_id)).body.license.status).toBe('banned');
});
