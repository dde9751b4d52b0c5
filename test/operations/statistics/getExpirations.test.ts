import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { patchWithNewToken } from '../support/journeys.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

type Result = components['schemas']['ExpirationsResult'];

const get = ({ app_id, token }: Pick<App, 'app_id' | 'token'>, query = '') =>
  api.call<Result>('GET', `/api/v2/dev/apps/${app_id}/expirations${query}`, undefined, { token });

async function subscriber(app: App, grants: readonly object[]) {
  const { userId } = await registered(api, app);
  for (const grant of grants) await callUsers(api, app, 'POST', `/${userId}/extend`, grant);
  return userId;
}

test('subscriptions by the day in UTC on which their last period ends', async () => {
  const app = await newApp(api);
  // It is 10:00 on the first day.
  await subscriber(app, [{ tier: 'Pro', days: 1 }]);
  await subscriber(app, [
    { tier: 'Pro', days: 1 },
    { tier: 'Standard', days: 2 },
  ]);
  await subscriber(app, [{ tier: 'Pro', lifetime: true }]);
  await subscriber(app, []);
  const { status, body } = await get(app, '?days=4');
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'success',
      days: ['2026-11-21', '2026-11-22', '2026-11-23', '2026-11-24'],
      counts: [0, 1, 0, 1],
    },
  });
  const { body: byDefault } = await get(app);
  expect(byDefault.days).toHaveLength(30);
  expect(byDefault.counts.slice(0, 4)).toEqual([0, 1, 0, 1]);
  expect((await get(app, '?days=90')).body.counts).toHaveLength(90);
});

test('what has ended does not count, a deletion and a transferred end count, and a pause moves all ends', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const gone = await subscriber(app, [{ tier: 'Pro', days: 2 }]);
  await subscriber(app, [{ tier: 'Pro', days: 1 }]);
  await subscriber(app, [{ tier: 'Pro', days: 3 }]);
  const counts = async (days: number) => {
    const { body } = await api.post<{ token: string }>('/api/v2/dev/login', developer);
    return (await get({ ...app, token: body.token }, `?days=${days}`)).body.counts;
  };
  expect(await counts(4)).toEqual([0, 1, 1, 1]);
  await callUsers(api, app, 'DELETE', `/${gone}`);
  clock.advance(DAY - 1);
  expect(await counts(3)).toEqual([1, 0, 1]);
  clock.advance(1);
  expect(await counts(3)).toEqual([0, 0, 1]);
  await patchWithNewToken(api, developer, app, { status: 'paused' });
  clock.advance(DAY);
  // Two days are left of the last one.
  expect(await counts(3)).toEqual([0, 0, 1]);
  await patchWithNewToken(api, developer, app, { status: 'active' });
  clock.advance(DAY);
  expect(await counts(3)).toEqual([0, 1, 0]);
});

test('each day is a range of one index', async () => {
  const database = await connectTo(service.databaseUrl);
  const { app_id } = await newApp(api);
  await database.query(
    `insert into users (user_id, app_id, username, username_key, created_at, subscription_ends_at)
     select 'usr_x' || lpad(n::text, 25, '0'), $1, 'n' || n, 'n' || n, now(), now() + n * interval '1 minute'
     from generate_series(1, 100000) n`,
    [app_id],
  );
  await database.query('vacuum analyze users');
  await database.query('set enable_seqscan = off; set enable_bitmapscan = off');
  const { rows } = await database.query<{ 'QUERY PLAN': string }>(
    `explain select count(*) from users u where u.app_id = $$${app_id}$$
       and u.subscription_ends_at >= now() and u.subscription_ends_at < now() + interval '1 day'`,
  );
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(
    'Index Only Scan using users_subscription_end',
  );
});

test('VALIDATION_FAILED and APPLICATION_NOT_FOUND', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  expectError(await get({ ...app, token }), 404, 'APPLICATION_NOT_FOUND');
  for (const days of ['0', '91', '-1', '1.5', 'x', '']) {
    const fresh = await newApp(api);
    expectFaults(await get(fresh, `?days=${days}`), 'query/days');
  }
});
