import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { expectError } from '../support/errors.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';
import { callUsers, registered, seatsOf } from '../support/users.ts';

const service = await startTestService();
const { api } = service;

testBulkAction(service, 'users/delete');

test('deletes users with all related data, frees their seats, and keeps their keys redeemed', async () => {
  const app = await newApp(api);
  const held = await redeemed(api, app);
  const { body: holder } = await licensesOf(api, app).get(held.license_id);
  const [user, other] = [await registered(api, app), await registered(api, app)];
  const { body: session } = await api.login(app.with(user));
  const user_ids = [user.userId, holder.license.redeemed_by!];
  const dry = await callBulk(service, app, 'users/delete', { user_ids, dry_run: true });
  expect(await seatsOf(api, app)).toBe(3);
  const wet = await callBulk(service, app, 'users/delete', { user_ids });
  expect(wet.body).toMatchObject({ matched: 2, changed: 2, unchanged: [] });
  expect(dry.body).toEqual({ ...wet.body, dry_run: true });
  expect(await seatsOf(api, app)).toBe(1);
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expectError(await callUsers(api, app, 'GET', `/${user.userId}`), 404, 'USER_NOT_FOUND');
  expect((await api.login(app.with(other))).status).toBe(200);
  expect((await licensesOf(api, app).get(held.license_id)).body.license).toMatchObject({
    status: 'redeemed',
    redeemed_by: null,
  });
  const { events, entries } = await recorded(service, app, 'user.deleted');
  expect(events.map(({ user_id }) => user_id).sort()).toEqual(user_ids.toSorted());
  expect(entries).toHaveLength(2);
});

test('by filter', async () => {
  const app = await newApp(api);
  await redeemed(api, app);
  await registered(api, app);
  const { body } = await callBulk(service, app, 'users/delete', { filter: { subscription: 'none' } });
  expect(body).toMatchObject({ matched: 1, changed: 1 });
  expect(await seatsOf(api, app)).toBe(1);
});
