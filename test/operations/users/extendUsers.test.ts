import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { ban, newApp, newHwid, unique, type App } from '../../support/fixtures.ts';
import { whileUserIsHeld } from '../../support/held-user.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { ABSENT_USER, callUsers, registered, viewOf, type UserView } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

const extend = (app: Pick<App, 'app_id' | 'token'>, body: object, headers = {}) =>
  callUsers(api, app, 'POST', '/extend', body, headers);
const give = (app: App, userId: string, tier: string, days: number | null) =>
  callUsers(api, app, 'POST', `/${userId}/extend`, { tier, days });
const endOf = async (app: App, userId: string) => (await viewOf(api, app, userId)).subscription;

/** Users of an application with only names. */
async function users(app: App, amount: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < amount; n += 1) {
    const { body } = await callUsers<UserView>(api, app, 'POST', '', { username: `user ${n}` });
    ids.push(body.user_id);
  }
  return ids;
}

test('all users with a running subscription get the days in the tier in force', async () => {
  const app = await newApp(api);
  const [none, over, pro, two, life] = (await users(app, 5)) as [string, string, string, string, string];
  await give(app, over, 'Pro', 1);
  clock.advance(DAY - 1);
  await give(app, pro, 'Pro', 1);
  await give(app, two, 'VIP', 2);
  await give(app, two, 'Standard', 4);
  await give(app, life, 'VIP', null);
  clock.advance(1);
  const token = (
    await api.post<{ token: string }>('/api/v2/dev/register', {
      email: `${unique('d')}@example.com`,
      password: 'a developer password',
    })
  ).body.token;
  expectError(
    await extend({ app_id: app.app_id, token }, { days: 7, all: true }),
    404,
    'APPLICATION_NOT_FOUND',
  );
  const own = await fresh(app);
  const { status, body } = await extend(own, { days: 7, all: true });
  expect(status).toBe(200);
  expect(body).toEqual({ status: 'success', extended: 2, unchanged: 1, unknown: 0 });
  expect((await endOf(own, none)).subscription_status).toBe('none');
  expect((await endOf(own, over)).subscription_status).toBe('expired');
  const at = (days: number) => new Date(clock.now().getTime() - 1 + days * DAY).toISOString();
  expect(await endOf(own, pro)).toMatchObject({ tier: 'Pro', expires_at: at(8) });
  expect((await endOf(own, two)).periods.map(({ tier, expires_at }) => [tier, expires_at])).toEqual([
    ['VIP', at(9)],
    ['Standard', at(13)],
  ]);
  expect((await endOf(own, life)).expires_at).toBe('9999-12-31T23:59:59.999Z');
});

test('named users, each once, in a named tier; unknown and other applications’ users are counted', async () => {
  const app = await newApp(api);
  const foreign = await registered(api, await newApp(api));
  const [a, b, c] = (await users(app, 3)) as [string, string, string];
  await give(app, b, 'Pro', null);
  const userIds = [a, a, b, foreign.userId, ABSENT_USER, 'nonsense'];
  const { body } = await extend(app, { days: 3, tier: 'Pro', user_ids: userIds });
  expect(body).toEqual({ status: 'success', extended: 1, unchanged: 1, unknown: 3 });
  expect(await endOf(app, a)).toMatchObject({ tier: 'Pro', expires_at: inDays(clock, 3) });
  expect((await endOf(app, c)).subscription_status).toBe('none');
  // Without a tier, users who have none in force do not change.
  const again = await extend(app, { days: 1, user_ids: [a, c] });
  expect(again.body).toMatchObject({ extended: 1, unchanged: 1 });
  expect((await endOf(app, a)).expires_at).toBe(inDays(clock, 4));
});

test('10,000 users take four statements per thousand, an event each, and one audit log entry', async () => {
  const app = await newApp(api);
  const [first] = (await users(app, 1)) as [string];
  await give(app, first, 'Pro', 1);
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query<{ user_id: string }>(
    `insert into users (user_id, app_id, username, username_key, created_at)
     select u.user_id || lpad(n::text, 5, '0'), u.app_id, n::text, n::text, u.created_at
     from users u, generate_series(1, 9999) n where u.user_id = $1 returning user_id`,
    [first],
  );
  await database.query(
    `insert into subscriptions select u.user_id, s.tier, s.starts_at, s.ends_at
     from users u, subscriptions s where s.user_id = $1 and u.user_id <> $1 and u.app_id = $2`,
    [first, app.app_id],
  );
  const userIds = [first, ...rows.map(({ user_id }) => user_id)];
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const named = await extend(app, { days: 1, user_ids: userIds });
  // Excludes the statements of the relay and the jobs, which depend on the duration.
  const ofUsers = /^(select "?user_id|with wanted|insert into "events")/;
  const texts = (query.mock.calls as unknown[][]).map(([requested]) =>
    typeof requested === 'string' ? requested : (requested as { text: string }).text,
  );
  const statements = texts.filter((text) => ofUsers.test(text)).length;
  query.mockRestore();
  expect(named.body).toEqual({ status: 'success', extended: 10_000, unchanged: 0, unknown: 0 });
  expect(statements).toBe(40);
  const all = await extend(app, { days: 1, all: true });
  expect(all.body['extended']).toBe(10_000);
  const ends = await database.query<{ ends_at: Date; n: number }>(
    `select ends_at, count(*)::int as n from subscriptions s join users u using (user_id)
     where u.app_id = $1 group by 1`,
    [app.app_id],
  );
  expect(ends.rows).toEqual([{ ends_at: new Date(inDays(clock, 3)), n: 10_000 }]);
  const told = await database.query<{ n: number; users: number }>(
    `select count(*)::int as n, count(distinct user_id)::int as users from events
     where app_id = $1 and type = 'user.subscription_extended'`,
    [app.app_id],
  );
  expect(told.rows[0]).toEqual({ n: 20_001, users: 10_000 });
  const audit = await api.call<{ data: object[] }>('GET', '/api/v2/dev/audit-log?limit=2', undefined, app);
  expect(audit.body.data).toMatchObject([
    { action: 'user.subscription_extended', target: app.app_id, data: { days: 1, extended: 10_000 } },
    { action: 'user.subscription_extended', target: app.app_id },
  ]);
}, 60_000);

test('one at a time per developer: TOO_MANY_REQUESTS; other developers continue', async () => {
  const app = await newApp(api);
  const other = await newApp(api);
  const [user] = (await users(app, 1)) as [string];
  await give(app, user, 'Pro', 1);
  const database = await connectTo(service.databaseUrl);
  await database.query('begin');
  await database.query('select from users where user_id = $1 for update', [user]);
  const first = extend(app, { days: 1, all: true });
  const waiting = () =>
    database
      .query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      .then(({ rowCount }) => rowCount);
  await expect.poll(waiting).toBe(1);
  const second = await extend(app, { days: 1, all: true });
  expectError(second, 429, 'TOO_MANY_REQUESTS');
  expect(second.headers.get('retry-after')).toBe('1');
  await database.query('rollback');
  expect((await first).body).toMatchObject({ extended: 1 });
  expect((await extend(other, { days: 1, all: true })).body).toMatchObject({ extended: 0 });
});

describe('while a user is locked', () => {
  /** Extends a user who has Pro for a day by 7 days, and does something else while the user is locked. */
  async function extendDuring(app: App, happening: () => Promise<unknown>) {
    const [user] = (await users(app, 1)) as [string];
    await give(app, user, 'Pro', 1);
    const extending = () => extend(app, { days: 7, tier: 'Pro', all: true });
    return {
      response: await whileUserIsHeld(service.databaseUrl, app, 'user 0', extending, happening),
      user,
    };
  }

  test('a pause of the application does not wait, and has the same effect as after it', async () => {
    const app = await newApp(api);
    const { response, user } = await extendDuring(app, async () => {
      await app.patch({ paused: true });
      clock.advance(60_000);
      await app.patch({ paused: false });
    });
    expect(response.body).toEqual({ status: 'success', extended: 1, unchanged: 0, unknown: 0 });
    expect((await endOf(app, user)).expires_at).toBe(inDays(clock, 8));
  });

  test('bans of machines and logins of others do not wait', async () => {
    const app = await newApp(api);
    const other = await registered(api, app);
    const { response } = await extendDuring(app, async () => {
      await ban(api, app, { kind: 'hardware', hwid: newHwid() });
      expect((await api.login(app.with(other))).status).toBe(200);
    });
    expect(response.body).toMatchObject({ extended: 1 });
  });

  test('its end does not wait for a change that locks the application', async () => {
    const app = await newApp(api);
    const change = await connectTo(service.databaseUrl);
    const { response } = await extendDuring(app, async () => {
      await change.query('begin');
      await change.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [app.app_id]);
    });
    expect(response.body).toMatchObject({ extended: 1 });
    await change.query('rollback');
  });

  test('VALIDATION_FAILED when the tier is removed, and nothing is extended', async () => {
    const app = await newApp(api);
    const { response, user } = await extendDuring(app, () => app.patch({ tiers: ['Standard'] }));
    expectFaults(response, '/tier');
    expect((await endOf(app, user)).expires_at).toBe(inDays(clock, 1));
  });

  test('APPLICATION_NOT_FOUND when the application is deleted', async () => {
    const app = await newApp(api);
    const { response } = await extendDuring(app, () =>
      api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token }),
    );
    expectError(response, 404, 'APPLICATION_NOT_FOUND');
  });
});

test('an Idempotency-Key adds once', async () => {
  const app = await newApp(api);
  const [user] = (await users(app, 1)) as [string];
  const key = { 'idempotency-key': unique('key') };
  const body = { days: 1, tier: 'Pro', user_ids: [user] };
  const first = await extend(app, body, key);
  const again = await extend(app, body, key);
  expect(again.body).toEqual(first.body);
  expect((await endOf(app, user)).expires_at).toBe(inDays(clock, 1));
  expectError(await extend(app, { ...body, days: 2 }, key), 422, 'IDEMPOTENCY_KEY_REUSED');
});

test('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  expectFaults(await extend(app, { days: 1, all: true, tier: 'None' }), '/tier');
  expectFaults(await extend(app, { days: 1, all: false }), '/all', '/user_ids');
  expectFaults(await extend(app, { days: 1, user_ids: [] }), '/user_ids');
  expectFaults(await extend(app, { days: 0, all: true }), '/days');
  expectFaults(await extend(app, { days: 1 }), '/user_ids');
  expectFaults(await extend(app, { days: 1, all: true, user_ids: ['x'] }), '/all');
  const many = Array.from({ length: 10_001 }, (_, n) => `usr_${n}`);
  expectFaults(await extend(app, { days: 1, user_ids: many }), '/user_ids');
  expectError(await extend(app, { days: 1, user_ids: ['x'.repeat(1_100_000)] }), 413, 'PAYLOAD_TOO_LARGE');
});

/** Renews the developer's session, which has expired. */
async function fresh(app: App): Promise<App> {
  const database = await connectTo(service.databaseUrl);
  await database.query(
    `update developer_sessions set expires_at = 'infinity'
     where developer_id = (select developer_id from applications where app_id = $1)`,
    [app.app_id],
  );
  return app;
}
