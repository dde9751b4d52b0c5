import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays, verifyWithNewSession } from '../support/journeys.ts';
import { expectForeignIsAbsent, licensesOf, licenseUser, redeemed, scoped } from '../support/licenses.ts';

const { api, clock, databaseUrl } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('the remaining time moves to the other user', async () => {
  const developer = await newDeveloper(api);
  const own = await newApp(api, developer);
  const { license_id, user } = await redeemed(api, own);
  const target = await newUser(api, own);
  clock.advance(DAY / 2);
  const { status, body } = await licensesOf(api, own).transfer(license_id, target.username.toUpperCase());
  expect(status).toBe(200);
  expect(body.license).toMatchObject({ license_id, status: 'redeemed', duration_days: 30 });
  const session = await api.login(own.with(target));
  expect(body.license.redeemed_by).toBe(session.body.user!.id);
  expect((await verifyWithNewSession(api, own, user)).subscription_tier).toBeUndefined();
  const verified = await verifyWithNewSession(api, own, target);
  expect(verified.subscription_tier).toBe('Pro');
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ ends_at: Date }>(
    'select ends_at from subscriptions join users using (user_id) where app_id = $1',
    [own.app_id],
  );
  expect(rows.map(({ ends_at }) => ends_at.toISOString())).toEqual([inDays(clock, 29.5)]);
  const events = await database.query<{ type: string }>('select type from events where app_id = $1', [
    own.app_id,
  ]);
  const types = events.rows.map(({ type }) => type);
  for (const type of ['license.transferred', 'user.subscription_reduced', 'user.subscription_extended'])
    expect(types).toContain(type);
  clock.advance(-DAY / 2);
});

test('the key logs in its new holder on the holder’s machine, and no longer the old one', async () => {
  const { license_id, login } = await licenseUser(api, app);
  const target = await newUser(api, app);
  expect((await licenses.transfer(license_id, target.username)).status).toBe(200);
  expectError(await api.loginWithLicense(login), 403, 'HWID_MISMATCH');
  const response = await api.loginWithLicense({ ...login, hwid: target.hwid });
  const verified = await api.verify({ app_id: app.app_id, token: response.body.token });
  expect(verified.body.user_id).toBe((await licenses.get(license_id)).body.license.redeemed_by);
  expectError(await api.loginWithLicense({ ...login, hwid: newHwid() }), 403, 'HWID_MISMATCH');
});

test('a lifetime moves as a lifetime', async () => {
  const { license_id, user } = await redeemed(api, app, { duration_days: null });
  const target = await redeemed(api, app);
  expect((await licenses.transfer(license_id, target.user.username)).status).toBe(200);
  expect((await verifyWithNewSession(api, app, user)).subscription_tier).toBeUndefined();
  const third = await licenses.create(1);
  const { license_key } = third[0]!;
  const refused = await api.activate(app.with({ username: target.user.username, license_key }));
  expectError(refused, 400, 'LICENSE_NOT_APPLICABLE');
});

test('LICENSE_ALREADY_HELD for its present holder', async () => {
  const { license_id, user } = await redeemed(api, app);
  expectError(await licenses.transfer(license_id, user.username), 409, 'LICENSE_ALREADY_HELD');
});

test('LICENSE_STATE_CONFLICT for a key that is unused, paused or banned', async () => {
  const { username } = await newUser(api, app);
  const [unused] = await licenses.create(1);
  const [paused, banned] = [await redeemed(api, app), await redeemed(api, app)];
  await licenses.pause(paused.license_id);
  await licenses.ban(banned.license_id);
  for (const { license_id } of [unused!, paused, banned])
    expectError(await licenses.transfer(license_id, username), 409, 'LICENSE_STATE_CONFLICT');
});

test('LICENSE_NOTHING_LEFT when a lifetime has absorbed it', async () => {
  const { license_id, user } = await redeemed(api, app);
  const [lifetime] = await licenses.create(1, { duration_days: null });
  await api.activate(app.with({ username: user.username, license_key: lifetime!.license_key }));
  const { username } = await newUser(api, app);
  expectError(await licenses.transfer(license_id, username), 409, 'LICENSE_NOTHING_LEFT');
  expect((await verifyWithNewSession(api, app, user)).subscription_tier).toBe('Pro');
});

test('LICENSE_NOT_APPLICABLE when the other user has a lifetime, and nothing moves', async () => {
  const { license_id, user } = await redeemed(api, app);
  const target = await redeemed(api, app, { duration_days: null, tier: 'VIP' });
  const before = (await licenses.get(license_id)).body;
  expectError(await licenses.transfer(license_id, target.user.username), 409, 'LICENSE_NOT_APPLICABLE');
  expect((await licenses.get(license_id)).body).toEqual(before);
  expect((await verifyWithNewSession(api, app, user)).subscription_tier).toBe('Pro');
});

test('USER_NOT_FOUND, also for another application’s user; VALIDATION_FAILED for an invalid name', async () => {
  const { license_id } = await redeemed(api, app);
  const stranger = await newUser(api, await newApp(api));
  for (const username of ['unknown', stranger.username])
    expectError(await licenses.transfer(license_id, username), 404, 'USER_NOT_FOUND');
  for (const username of ['', 'u'.repeat(65), 'a\u200bb', 'a\ue000b'])
    expectFaults(await licenses.transfer(license_id, username), '/username');
});

test('USER_NOT_FOUND when the user is deleted while the transfer waits for them', async () => {
  const { license_id, user } = await redeemed(api, app);
  const { username } = await newUser(api, app);
  const database = await connectTo(databaseUrl);
  await database.query('begin');
  await database.query('delete from users where app_id = $1 and username = $2', [app.app_id, username]);
  const transferred = licenses.transfer(license_id, username);
  const watcher = await connectTo(databaseUrl);
  await expect
    .poll(async () => (await watcher.query('select from pg_locks where not granted')).rowCount)
    .toBe(1);
  await database.query('commit');
  expectError(await transferred, 404, 'USER_NOT_FOUND');
  expect((await verifyWithNewSession(api, app, user)).subscription_tier).toBe('Pro');
});

test('an Idempotency-Key moves it once', async () => {
  const { license_id } = await redeemed(api, app);
  const { username } = await newUser(api, app);
  const headers = { 'idempotency-key': license_id };
  const first = await licenses.transfer(license_id, username, headers);
  expect(first.status).toBe(200);
  expect((await licenses.transfer(license_id, username, headers)).body).toEqual(first.body);
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const { license_id } = await redeemed(api, app);
  const { username } = await newUser(api, app);
  await expectForeignIsAbsent(api, app, license_id, (calls, id) => calls.transfer(id, username));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.transfer(license_id, username), 403, 'INSUFFICIENT_SCOPE');
});
