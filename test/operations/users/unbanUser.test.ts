import { expect, test } from 'vitest';
import { ban, newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

testForeignUsers(service, 'POST', '/unban');

test('lifts every ban of the user once', async () => {
  const app = await newApp(api);
  const [user, other] = [await registered(api, app), await registered(api, app)];
  await ban(api, app, { kind: 'user', username: user.username });
  await ban(api, app, { kind: 'user', username: user.username });
  await ban(api, app, { kind: 'user', username: other.username });
  const { status, body } = await callUsers(api, app, 'POST', `/${user.userId}/unban`);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Ban lifted.' });
  expect((await api.login(app.with(user))).status).toBe(200);
  expectError(await api.login(app.with(other)), 403, 'USER_BANNED');
  expectError(await callUsers(api, app, 'POST', `/${user.userId}/unban`), 404, 'BAN_NOT_FOUND');
});

test('bans of the user’s machine stay', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await ban(api, app, { kind: 'hardware', username: user.username });
  expectError(await callUsers(api, app, 'POST', `/${user.userId}/unban`), 404, 'BAN_NOT_FOUND');
  await ban(api, app, { kind: 'user', username: user.username });
  expect((await callUsers(api, app, 'POST', `/${user.userId}/unban`)).status).toBe(200);
  expectError(await api.login(app.with(user)), 403, 'HWID_BANNED');
});
