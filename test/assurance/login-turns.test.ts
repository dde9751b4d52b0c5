import { expect, test } from 'vitest';
import { connectTo } from '../support/database.ts';
import { newApp, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api, databaseUrl } = await startTestService();

test('logins that wait for one user leave connections to everybody else', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const [licenseKey] = await app.keys(1);
  const byLicense = { app_id: app.app_id, license_key: licenseKey, hwid: user.hwid };
  expect((await api.post('/api/v2/client/login-license', byLicense)).status).toBe(200);
  const database = await connectTo(databaseUrl);
  await database.query('begin');
  await database.query('select 1 from users where app_id = $1 for no key update', [app.app_id]);
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
  // Each of these asks the same pool.
  for (let n = 0; n < 20; n += 1)
    expect((await api.call('GET', '/api/v2/dev/apps', undefined, app)).status).toBe(200);
  expect(await waiting()).toBe(4);
  await database.query('commit');
  for (const { status } of await Promise.all(logins)) expect([200, 503]).toContain(status);
});
