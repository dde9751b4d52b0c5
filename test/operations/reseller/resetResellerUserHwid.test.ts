import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newHwid, newUser, unique, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { newReseller, type TestReseller } from '../support/resellers.ts';

const { api } = await startTestService();
const reset = ({ token }: Pick<TestReseller, 'token'>, userId: string) =>
  api.post(`/api/v2/dev/reseller/users/${userId}/reset-hwid`, undefined, { token });

/** A user who registered with a key and has logged in. */
async function newCustomer(app: App, license_key?: string) {
  const user = { username: unique('user'), password: 'a user password', hwid: newHwid() };
  const { body } = await api.register(
    app.with({ ...user, ...(license_key !== undefined && { license_key }) }),
  );
  const { token } = (await api.login(app.with(user))).body;
  return { user, token, userId: String(body['user_id']) };
}

test('the next login binds another machine; sessions end', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10 });
  const { user, token, userId } = await newCustomer(app, (await reseller.keys(1))[0]!.license_key);
  const elsewhere = { ...user, hwid: newHwid() };
  expectError(await api.login(app.with(elsewhere)), 403, 'HWID_MISMATCH');
  const { status, body } = await reset(reseller, userId);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Hardware lock reset.' });
  expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
  expect((await api.login(app.with(elsewhere))).status).toBe(200);
  expectError(await api.login(app.with(user)), 403, 'HWID_MISMATCH');
  const log = await api.call<components['schemas']['AuditEntryList']>(
    'GET',
    `/api/v2/dev/audit-log?actor_id=${reseller.reseller_id}&action=user.hwid_reset`,
    undefined,
    app,
  );
  expect(log.body.data).toMatchObject([{ actor: { kind: 'reseller' }, target: userId }]);
});

test('USER_NOT_FOUND is the same for all users without a key of the reseller, and changes nothing', async () => {
  const app = await newApp(api);
  const [reseller, other] = [
    await newReseller(api, app, { balance: 10 }),
    await newReseller(api, app, { balance: 10 }),
  ];
  await reseller.keys(1);
  const own = await newCustomer(app, (await app.keys(1))[0]);
  const others = await newCustomer(app, (await other.keys(1))[0]!.license_key);
  const keyless = await newUser(api, app);
  const foreignApp = await newApp(api);
  const foreign = await newReseller(api, foreignApp, { balance: 10 });
  const stranger = await newCustomer(foreignApp, (await foreign.keys(1))[0]!.license_key);
  const absent = await reset(reseller, 'usr_01kazm6t0hfa8bk4n2q7r9s1vx');
  expectError(absent, 404, 'USER_NOT_FOUND');
  for (const id of [own.userId, others.userId, stranger.userId, keyless.username, 'x']) {
    expect(comparable(await reset(reseller, id))).toEqual(comparable(absent));
  }
  for (const [of, { token }] of [
    [app, own],
    [app, others],
    [foreignApp, stranger],
  ] as const) {
    expect((await api.verify({ app_id: of.app_id, token })).status).toBe(200);
  }
});

test('USER_NOT_FOUND once the application is deleted', async () => {
  const app = await newApp(api);
  const reseller = await newReseller(api, app, { balance: 10 });
  const { userId } = await newCustomer(app, (await reseller.keys(1))[0]!.license_key);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expectError(await reset(reseller, userId), 404, 'USER_NOT_FOUND');
});

test("UNAUTHORIZED with the developer's token", async () => {
  const app = await newApp(api);
  expectError(await reset(app, 'usr_01kazm6t0hfa8bk4n2q7r9s1vx'), 401, 'UNAUTHORIZED');
});
