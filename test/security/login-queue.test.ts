import { expect, test } from 'vitest';
import type { ApiResponse } from '../support/api.ts';
import { connectTo } from '../support/database.ts';
import { newApp, newHwid, newUser, type App } from '../support/fixtures.ts';
import { expectError } from '../operations/support/errors.ts';
import { startTestService } from '../support/service.ts';

const { api, databaseUrl } = await startTestService({}, { hashing: 'each' });
const FULL = 'Too many logins are waiting.';

/** Locks the users of an application. @returns unlocks them */
async function lockUsers({ app_id }: App): Promise<() => Promise<unknown>> {
  const database = await connectTo(databaseUrl);
  await database.query('begin');
  await database.query('select 1 from users where app_id = $1 for no key update', [app_id]);
  return () => database.query('commit');
}

test('logins that wait for one user leave connections to other requests', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const [licenseKey] = await app.keys(1);
  const byLicense = { app_id: app.app_id, license_key: licenseKey, hwid: user.hwid };
  expect((await api.post('/api/v2/client/login-license', byLicense)).status).toBe(200);
  const unlock = await lockUsers(app);
  const waiting = async () => {
    const { rows } = await other.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]!.n;
  };
  const other = await connectTo(databaseUrl);
  const logins = [
    ...Array.from({ length: 4 }, () => api.login(app.with(user))),
    ...Array.from({ length: 12 }, () => api.post('/api/v2/client/login-license', byLicense)),
  ];
  await expect.poll(waiting, { interval: 5 }).toBe(4);
  // Each of these uses the same connection pool.
  for (let n = 0; n < 20; n += 1)
    expect((await api.call('GET', '/api/v2/dev/apps', undefined, app)).status).toBe(200);
  expect(await waiting()).toBe(4);
  await unlock();
  for (const { status } of await Promise.all(logins)) expect([200, 503]).toContain(status);
});

test.each(['password', 'license'])(
  'when too many logins of one user by %s wait, more are refused at once, and others log in',
  async (by) => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const [user, neighbor] = [await newUser(api, app), await newUser(api, other)];
    const [licenseKey] = await app.keys(1);
    const byLicense = { app_id: app.app_id, license_key: licenseKey, hwid: user.hwid };
    const login = (): Promise<ApiResponse<object>> =>
      by === 'password' ? api.login(app.with(user)) : api.post('/api/v2/client/login-license', byLicense);
    expect((await login()).status).toBe(200);
    const unlock = await lockUsers(app);
    const logins: Promise<ApiResponse<object>>[] = [];
    const refused: ApiResponse<object>[] = [];
    const oneMore = () => {
      const sent = login();
      void sent.then((response) => {
        // The refusal of a password that waits to be hashed has another detail.
        if ('detail' in response.body && response.body.detail === FULL) refused.push(response);
      });
      logins.push(sent);
      return refused.length;
    };
    await expect.poll(oneMore, { interval: 20, timeout: 20_000 }).toBeGreaterThan(0);
    expect(logins.length).toBeGreaterThan(32);
    expectError(refused[0]!, 429, 'TOO_MANY_REQUESTS');
    expect(refused[0]!.headers.get('retry-after')).toBe('1');
    // The last passwords of the first user may still wait to be hashed.
    await expect.poll(async () => (await api.login(other.with(neighbor))).status).toBe(200);
    await unlock();
    for (const { status } of await Promise.all(logins)) expect([200, 429, 503]).toContain(status);
    expect((await login()).status).toBe(200);
  },
);

test.each(['password', 'license'])(
  'logins by %s from machines that may not log in do not enter the queue of the machine that may',
  async (by) => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const [license_key] = await app.keys(1);
    const keyHwid = newHwid();
    const login = (hwid: string): Promise<ApiResponse<object>> =>
      by === 'password'
        ? api.login(app.with({ ...user, hwid }))
        : api.post('/api/v2/client/login-license', { app_id: app.app_id, license_key, hwid });
    const own = by === 'password' ? user.hwid : keyHwid;
    expect((await login(own)).status).toBe(200);
    const unlock = await lockUsers(app);
    // More than a queue holds: each gets its response while the user is locked.
    for (let n = 0; n < 40; n += 1) expectError(await login(newHwid()), 403, 'HWID_MISMATCH');
    const waiting = login(own);
    await unlock();
    expect((await waiting).status).toBe(200);
  },
);
