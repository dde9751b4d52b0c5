import { expect, test } from 'vitest';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { callBulk, recorded, testBulkAction } from '../support/bulk-actions.ts';
import { expectError } from '../support/errors.ts';
import { licensesOf, redeemed } from '../support/licenses.ts';

const service = await startTestService();
const { api } = service;

testBulkAction(service, 'licenses/ban');

test('by id: banned keys stay as they are, and the others are banned like single ones', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [banned, unused, paused] = await licenses.create(3);
  await licenses.ban(banned!.license_id, { reason: 'first' });
  await licenses.pause(paused!.license_id);
  const foreign = await licensesOf(api, await newApp(api)).create(1);
  const license_ids = [banned!, unused!, paused!, ...foreign].map(({ license_id }) => license_id);
  const body = { license_ids, reason: 'Charged back' };
  const dry = await callBulk(service, app, 'licenses/ban', { ...body, dry_run: true });
  expect((await licenses.get(unused!.license_id)).body.license.status).toBe('unused');
  const wet = await callBulk(service, app, 'licenses/ban', body);
  expect(wet.body).toMatchObject({
    dry_run: false,
    matched: 3,
    changed: 2,
    banned_users: 0,
    next_cursor: null,
  });
  expect(dry.body).toEqual({ ...wet.body, dry_run: true });
  expect(wet.body.unchanged).toHaveLength(2);
  expect(wet.body.unchanged).toEqual(
    expect.arrayContaining([
      { license_id: banned!.license_id, code: 'LICENSE_STATE_CONFLICT' },
      { license_id: foreign[0]!.license_id, code: 'LICENSE_NOT_FOUND' },
    ]),
  );
  expect((await licenses.get(banned!.license_id)).body.license.ban_reason).toBe('first');
  expect((await licenses.get(unused!.license_id)).body.license).toMatchObject({
    status: 'banned',
    ban_reason: 'Charged back',
  });
  expect((await licenses.unban(paused!.license_id)).body.license.status).toBe('paused');
  const { username } = await newUser(api, app);
  const { license_key } = unused!;
  expectError(await api.activate(app.with({ username, license_key })), 400, 'LICENSE_UNUSABLE');
  const { events, entries } = await recorded(service, app, 'license.banned');
  expect(events).toHaveLength(3);
  expect(entries).toHaveLength(3);
  expect(events.map(({ data }) => data)).toContainEqual({
    license_id: unused!.license_id,
    status: 'banned',
    reason: 'Charged back',
  });
});

test('with their users, whose sessions are dead when it returns', async () => {
  const app = await newApp(api);
  const held = [await redeemed(api, app), await redeemed(api, app)];
  const { body: session } = await api.login(app.with(held[0]!.user));
  const license_ids = held.map(({ license_id }) => license_id);
  const { body } = await callBulk(service, app, 'licenses/ban', { license_ids, ban_users: true });
  expect(body).toMatchObject({ matched: 2, changed: 2, banned_users: 2 });
  expectError(await api.verify({ app_id: app.app_id, token: session.token }), 401, 'SESSION_INVALID');
  expectError(await api.login(app.with(held[1]!.user)), 403, 'USER_BANNED');
});

test('by filter in calls of 10,000, each of which says where the next one continues', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  await licenses.create(9_999);
  await licenses.create(3);
  const [other] = await licenses.create(1, { tier: 'VIP' });
  const filter = { tier: 'Pro', status: 'unused' };
  const dry = await callBulk(service, app, 'licenses/ban', { filter, dry_run: true });
  expect(dry.body).toMatchObject({ dry_run: true, matched: 10_000, changed: 10_000, unchanged: [] });
  const first = await callBulk(service, app, 'licenses/ban', { filter });
  expect(first.body).toEqual({ ...dry.body, dry_run: false });
  expect(first.body.next_cursor).not.toBeNull();
  const cursor = first.body.next_cursor;
  const second = await callBulk(service, app, 'licenses/ban', { filter, cursor });
  expect(second.body).toMatchObject({ matched: 2, changed: 2, next_cursor: null });
  expect((await licenses.list('?status=unused')).body.data).toMatchObject([
    { license_id: other!.license_id },
  ]);
  const all = await callBulk(service, app, 'licenses/ban', { all: true, cursor });
  expect(all.body).toMatchObject({ matched: 2, changed: 0, next_cursor: null });
}, 60_000);

test('a repetition changes nothing more', async () => {
  const app = await newApp(api);
  const licenses = licensesOf(api, app);
  const [made] = await licenses.create(1);
  const body = { license_ids: [made!.license_id] };
  expect((await callBulk(service, app, 'licenses/ban', body)).body.changed).toBe(1);
  const again = await callBulk(service, app, 'licenses/ban', body);
  expect(again.body.unchanged).toEqual([{ license_id: made!.license_id, code: 'LICENSE_STATE_CONFLICT' }]);
  expect((await recorded(service, app, 'license.banned')).events).toHaveLength(1);
});
