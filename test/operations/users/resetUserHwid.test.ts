import { expect, test } from 'vitest';
import { newApp, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { callUsers, registered, viewOf } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

testForeignUsers(service, 'POST', '/reset-hwid');

test('without a limit: the next login binds its machine, and sessions end', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  for (let round = 0; round < 3; round += 1) {
    const { body: session } = await api.login(app.with(user));
    const { status, body } = await callUsers(api, app, 'POST', `/${user.userId}/reset-hwid`);
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'success', message: 'Hardware reset.' });
    expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
    expect(await viewOf(api, app, user.userId)).toMatchObject({ hwid_bound: false, hwid_reset_at: null });
    const moved = { ...user, hwid: newHwid() };
    expect((await api.login(app.with(moved))).status).toBe(200);
    expectError(await api.login(app.with(user)), 403, 'HWID_MISMATCH');
    await callUsers(api, app, 'POST', `/${user.userId}/reset-hwid`);
  }
});
