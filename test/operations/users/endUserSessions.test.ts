import { expect, test } from 'vitest';
import { newApp, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

testForeignUsers(service, 'DELETE', '/sessions');

test('ends all sessions of one user and no others; the user can log in again', async () => {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false });
  const [user, other] = [await registered(api, app), await registered(api, app)];
  const tokens: string[] = [];
  for (const hwid of [user.hwid, newHwid(), newHwid()]) {
    tokens.push((await api.login(app.with({ ...user, hwid }))).body.token);
  }
  const { body: others } = await api.login(app.with(other));
  const { status, body } = await callUsers(api, app, 'DELETE', `/${user.userId}/sessions`);
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', message: 'Sessions ended.', ended: 3 });
  for (const token of tokens) {
    expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
  }
  expect((await api.verify({ app_id: app.app_id, token: others.token })).status).toBe(200);
  expect((await callUsers(api, app, 'DELETE', `/${user.userId}/sessions`)).body['ended']).toBe(0);
  expect((await api.login(app.with(user))).status).toBe(200);
});
