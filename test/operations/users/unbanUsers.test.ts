import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

testBulkAction(service, 'users/unban');

test('lifts all bans of users, and leaves users without one', async () => {
  const app = await newApp(api);
  const [banned, free] = [await registered(api, app), await registered(api, app)];
  await callUsers(api, app, 'POST', `/${banned.userId}/ban`, {});
  const user_ids = [banned.userId, free.userId];
  const dry = await callBulk(service, app, 'users/unban', { user_ids, dry_run: true });
  const wet = await callBulk(service, app, 'users/unban', { user_ids });
  expect(wet.body).toMatchObject({
    matched: 2,
    changed: 1,
    unchanged: [{ user_id: free.userId, code: 'BAN_NOT_FOUND' }],
  });
  expect(dry.body).toEqual({ ...wet.body, dry_run: true });
  expect((await api.login(app.with(banned))).status).toBe(200);
  const { events, entries } = await recorded(service, app, 'user.unbanned');
  expect(events.map(({ user_id }) => user_id)).toEqual([banned.userId]);
  expect(entries.map(({ target }) => target)).toEqual([banned.userId]);
});

test('by filter', async () => {
  const app = await newApp(api);
  const banned = await registered(api, app);
  await registered(api, app);
  await callUsers(api, app, 'POST', `/${banned.userId}/ban`, {});
  const { body } = await callBulk(service, app, 'users/unban', { filter: { banned: true } });
  expect(body).toMatchObject({ matched: 1, changed: 1 });
});
