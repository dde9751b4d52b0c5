import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { ban, newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { testForeignUsers } from '../support/foreign-users.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, registered, viewOf } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

testForeignUsers(service, 'POST', '/ban', { reason: 'Shared' });

const bansOf = async ({ app_id, token }: { app_id: string; token: string }) =>
  (
    await api.call<{ data: { ban_id: string }[] }>('GET', `/api/v2/dev/apps/${app_id}/bans`, undefined, {
      token,
    })
  ).body.data;

test('has the effect of a ban by name', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  const { body: session } = await api.login(app.with(user));
  const { status, body } = await callUsers(api, app, 'POST', `/${user.userId}/ban`, { reason: 'Shared' });
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    ban_id: expect.stringMatching(/^ban_/),
    kind: 'user',
    user_id: user.userId,
    network: null,
    reason: 'Shared',
    expires_at: null,
    created_at: clock.now().toISOString(),
  });
  expectError(await api.login(app.with(user)), 403, 'USER_BANNED');
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expect(await bansOf(app)).toMatchObject([{ ban_id: body['ban_id'] }]);
});

test('bans in force get the new reason and end', async () => {
  const app = await newApp(api);
  const user = await registered(api, app);
  await ban(api, app, { kind: 'user', username: user.username, reason: 'first' });
  const last = await ban(api, app, { kind: 'user', username: user.username, reason: 'second' });
  const terms = { reason: null, expires_at: inDays(clock, 1) };
  const { body } = await callUsers(api, app, 'POST', `/${user.userId}/ban`, terms);
  expect(body).toMatchObject({ ban_id: last, ...terms });
  expect(await bansOf(app)).toHaveLength(1);
  clock.advance(DAY - 1);
  expectError(await api.login(app.with(user)), 403, 'USER_BANNED');
  clock.advance(1);
  expect((await api.login(app.with(user))).status).toBe(200);
});

test('a ban that has ended stays in the list next to the new one', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  await callUsers(api, app, 'POST', `/${userId}/ban`, {
    expires_at: new Date(clock.now().getTime() + 1).toISOString(),
  });
  clock.advance(1);
  expect((await viewOf(api, app, userId)).ban).toBeNull();
  expect((await callUsers(api, app, 'POST', `/${userId}/ban`, {})).status).toBe(200);
  expect(await bansOf(app)).toHaveLength(2);
});

test('the audit log has the reason, and the user’s event does not', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  await callUsers(api, app, 'POST', `/${userId}/ban`, { reason: 'Shared' });
  const read = async (path: string) =>
    (await api.call<{ data: { data: object }[] }>('GET', path, undefined, app)).body.data;
  const told = { ban_id: expect.stringMatching(/^ban_/), expires_at: null };
  expect(await read(`/api/v2/dev/audit-log?target=${userId}`)).toMatchObject([
    { data: { ...told, reason: 'Shared' } },
  ]);
  const events = `/api/v2/dev/apps/${app.app_id}/events?type=user.banned`;
  await expect.poll(() => read(events)).toHaveLength(1);
  expect((await read(events))[0]!.data).toEqual(told);
});

test('concurrent requests create one ban', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => callUsers(api, app, 'POST', `/${userId}/ban`, {})),
  );
  expect(new Set(responses.map(({ body }) => body['ban_id'])).size).toBe(1);
  expect(await bansOf(app)).toHaveLength(1);
});

test('VALIDATION_FAILED, and no user is banned', async () => {
  const app = await newApp(api);
  const { userId } = await registered(api, app);
  const send = (body: object) => callUsers(api, app, 'POST', `/${userId}/ban`, body);
  expectFaults(await send({ expires_at: inDays(clock, 0) }), '/expires_at');
  expectFaults(await send({ expires_at: 'tomorrow' }), '/expires_at');
  expectFaults(await send({ reason: 'r'.repeat(501) }), '/reason');
  expect((await viewOf(api, app, userId)).ban).toBeNull();
});
