import { expect, test } from 'vitest';
import { ban, lift, newApp, newHwid, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { everywhere, guestsOf, callEveryEntryPoint } from '../support/entry-points.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

const service = await startTestService();
const { api } = service;

const remove = ({ app_id, token }: Pick<App, 'app_id' | 'token'>, banId: string) =>
  api.call('DELETE', `/api/v2/dev/apps/${app_id}/bans/${banId}`, undefined, { token });

test('lifts a ban once', async () => {
  const app = await newApp(api);
  const banId = await ban(api, app, { kind: 'network', network: '203.0.113.1' });
  const { status, body } = await remove(app, banId);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Ban lifted.' });
  expectError(await remove(app, banId), 404, 'BAN_NOT_FOUND');
});

test('every user can log in again when the response arrives', async () => {
  const app = await newApp(api);
  const guests = await guestsOf(service, app);
  const bans = [await ban(api, app, { kind: 'network', network: '127.0.0.1' })];
  for (const { hwid } of Object.values(guests)) bans.push(await ban(api, app, { kind: 'hardware', hwid }));
  const { loginUser } = guests;
  bans.push(await ban(api, app, { kind: 'user', username: loginUser.username }));
  for (const banId of bans) await lift(api, app, banId);
  expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('ok'));
});

test('the other bans stay in force, whichever goes first', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const { body } = await api.login(app.with(user));
  const verify = () => api.verify({ app_id: app.app_id, token: body.token });
  const first = await ban(api, app, { kind: 'hardware', hwid: user.hwid });
  const second = await ban(api, app, { kind: 'hardware', hwid: user.hwid });
  const network = await ban(api, app, { kind: 'network', network: '127.0.0.1' });
  await lift(api, app, network);
  expectError(await verify(), 403, 'HWID_BANNED');
  await lift(api, app, first);
  expectError(await verify(), 403, 'HWID_BANNED');
  expectError(await api.login(app.with(user)), 403, 'HWID_BANNED');
  await ban(api, app, { kind: 'user', username: (await newUser(api, app)).username });
  expectError(await verify(), 403, 'HWID_BANNED');
  await lift(api, app, second);
  expect((await verify()).status).toBe(200);
});

test('concurrent requests lift it once', async () => {
  const app = await newApp(api);
  const banId = await ban(api, app, { kind: 'hardware', hwid: newHwid() });
  const responses = await Promise.all(Array.from({ length: 10 }, () => remove(app, banId)));
  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(404)]);
});

test('BAN_NOT_FOUND is the same for another application’s and an absent one', async () => {
  const app = await newApp(api);
  const sibling = await newApp(api);
  const banId = await ban(api, sibling, { kind: 'network', network: '127.0.0.1' });
  const foreign = await remove(app, banId);
  expectError(foreign, 404, 'BAN_NOT_FOUND');
  for (const absent of ['ban_01kazm9r5bf3xsn7d1v8c2w6gp', 'nonsense', app.app_id, '%F0%9F%A6%8A']) {
    expect(comparable(await remove(app, absent))).toEqual(comparable(foreign));
  }
  const stranger = { username: 'anyone', password: 'a password', hwid: newHwid() };
  expectError(await api.login(sibling.with(stranger)), 403, 'ADDRESS_BANNED');
});

test('APPLICATION_NOT_FOUND for another developer’s, whose ban stays', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const user = await newUser(api, app);
  const banId = await ban(api, app, { kind: 'user', username: user.username });
  expectError(await remove({ ...app, token: other.token }, banId), 404, 'APPLICATION_NOT_FOUND');
  expectError(await api.login(app.with(user)), 403, 'USER_BANNED');
});

test('VALIDATION_FAILED for an identifier that is too long', async () => {
  expectFaults(await remove(await newApp(api), 'b'.repeat(65)), 'path/ban_id');
});
