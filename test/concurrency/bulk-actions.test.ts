import { expect, test } from 'vitest';
import { callBulk } from '../operations/support/bulk-actions.ts';
import { expectError } from '../operations/support/errors.ts';
import { licensesOf } from '../operations/support/licenses.ts';
import { callUsers, registered, viewOf } from '../operations/support/users.ts';
import { connectTo } from '../support/database.ts';
import { newApp, newDeveloper, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
const { api } = service;

/** Another process, which holds what a statement locks until its transaction ends. */
async function holding(sql: string, values: readonly string[]) {
  const database = await connectTo(service.databaseUrl);
  await database.query('begin');
  await database.query(sql, [...values]);
  return database;
}

/** Waits until a transaction waits for a lock. */
async function untilWaiting(): Promise<void> {
  const database = await connectTo(service.databaseUrl);
  const waiting = () =>
    database.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
  await expect.poll(async () => (await waiting()).rows.length).toBeGreaterThan(0);
  await database.end();
}

test.each(['delete', 'ban'])(
  'users who no longer match when they are locked stay as they are: %s',
  async (action) => {
    const app = await newApp(api);
    const [changed, other] = [await registered(api, app), await registered(api, app)];
    for (const { userId } of [changed, other]) await callUsers(api, app, 'POST', `/${userId}/reset-hwid`);
    const database = await holding(
      `update users set hwid_digest = '\\x00' where user_id = $1 and hwid_digest is null`,
      [changed.userId],
    );
    const filter = { hwid_bound: false };
    const outcome = callBulk(service, app, `users/${action}`, { filter });
    await untilWaiting();
    await database.query('commit');
    expect((await outcome).body).toMatchObject({ matched: 2, changed: 1, unchanged: [] });
    expect(await viewOf(api, app, changed.userId)).toMatchObject({ ban: null });
  },
);

const tryAll = (path: string) => (app: App) => callBulk(service, app, path, { all: true, dry_run: true });

test.each([
  ...['ban', 'unban', 'pause', 'resume', 'delete'].map((action) => `licenses/${action}`),
  ...['ban', 'unban', 'delete'].map((action) => `users/${action}`),
  'unused licenses',
])('another bulk operation of the developer, in any process, refuses %s', async (path) => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await licensesOf(api, app).create(1);
  await registered(api, app);
  const call = path === 'unused licenses' ? () => licensesOf(api, app).deleteUnused() : tryAll(path);
  const database = await holding('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `bulk:${developer.developerId}`,
  ]);
  expectError(await call(app), 429, 'TOO_MANY_REQUESTS');
  await database.query('rollback');
  expect((await call(app)).status).toBe(200);
});

test('the deletion of a user locks the licenses in the order of their ids, like bulk actions', async () => {
  const app = await newApp(api);
  const made = await licensesOf(api, app).create(2);
  const [low, high] = made.toSorted((a, b) => (a.license_id < b.license_id ? -1 : 1));
  const user = await registered(api, app);
  // The row of the higher id is rewritten first, so a scan finds it first.
  for (const { license_key } of [high!, low!]) {
    expect((await api.activate(app.with({ username: user.username, license_key }))).status).toBe(200);
  }
  const database = await holding('select from licenses where license_id = $1 for update', [low!.license_id]);
  const deleted = callUsers(api, app, 'DELETE', `/${user.userId}`);
  await untilWaiting();
  await database.query('select from licenses where license_id = $1 for update nowait', [high!.license_id]);
  await database.query('commit');
  expect((await deleted).status).toBe(200);
});
