import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { callUsers, registered, viewOf } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

testBulkAction(service, 'users/ban');

test('sessions are dead when it returns; a ban in force gets the new reason and end', async () => {
  const app = await newApp(api);
  const [user, banned, other] = [
    await registered(api, app),
    await registered(api, app),
    await registered(api, app),
  ];
  const { body: session } = await api.login(app.with(user));
  const { body: before } = await callUsers(api, app, 'POST', `/${banned.userId}/ban`, { reason: 'first' });
  const terms = { reason: 'Shared', expires_at: inDays(clock, 2) };
  const user_ids = [user.userId, banned.userId];
  const dry = await callBulk(service, app, 'users/ban', { user_ids, ...terms, dry_run: true });
  expect((await api.verify({ app_id: app.app_id, token: session.token })).status).toBe(200);
  const wet = await callBulk(service, app, 'users/ban', { user_ids, ...terms });
  expect(wet.body).toEqual({
    status: 'success',
    dry_run: false,
    matched: 2,
    changed: 2,
    unchanged: [],
    next_cursor: null,
  });
  expect(dry.body).toEqual({ ...wet.body, dry_run: true });
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expectError(await api.login(app.with(user)), 403, 'USER_BANNED');
  expect((await viewOf(api, app, user.userId)).ban).toMatchObject(terms);
  expect((await viewOf(api, app, banned.userId)).ban).toMatchObject({ ...terms, ban_id: before['ban_id'] });
  expect((await viewOf(api, app, other.userId)).ban).toBeNull();
  const { events, entries } = await recorded(service, app, 'user.banned');
  expect(events.map(({ data }) => JSON.stringify(data)).join()).not.toContain('Shared');
  expect(entries.filter(({ data }) => data['reason'] === 'Shared').map(({ target }) => target)).toEqual(
    user_ids.toSorted(),
  );
  expect((await recorded(service, app, 'session.ended')).events.map(({ data }) => data['reason'])).toEqual([
    'banned',
  ]);
});

test('by filter', async () => {
  const app = await newApp(api);
  const [bot, user] = [await registered(api, app, { username: 'bot 1' }), await registered(api, app)];
  const { body } = await callBulk(service, app, 'users/ban', { filter: { q: 'BOT', banned: false } });
  expect(body).toMatchObject({ matched: 1, changed: 1, next_cursor: null });
  expect((await viewOf(api, app, bot.userId)).ban).toMatchObject({ reason: null, expires_at: null });
  expect((await viewOf(api, app, user.userId)).ban).toBeNull();
});

test('an end that is not in the future', async () => {
  const app = await newApp(api);
  for (const expires_at of [inDays(clock, 0), inDays(clock, -1)]) {
    expectFaults(await callBulk(service, app, 'users/ban', { all: true, expires_at }), '/expires_at');
  }
});
