import { beforeAll, describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid, newUser, type App, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

type Statistics = components['schemas']['StatisticsResult'];

/** The service's clock starts at 10:00 of this day. */
const service = await startTestService();
const { api, clock, services } = service;

const today = () => clock.now().toISOString().slice(0, 10);
const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY).toISOString().slice(0, 10);

const get = (app: Pick<App, 'app_id' | 'token'>, query = '') =>
  api.call<Statistics>('GET', `/api/v2/dev/apps/${app.app_id}/statistics${query}`, undefined, app);

/** The statistics once every event is counted. */
async function statistics(app: Pick<App, 'app_id' | 'token'>, query = ''): Promise<Statistics> {
  const database = await connectTo(service.databaseUrl);
  await expect
    .poll(async () => (await database.query('select 1 from events where position is null')).rowCount)
    .toBe(0);
  const { status, body } = await get(app, query);
  expect(status).toBe(200);
  return body;
}

/** Advances to another day, on which the developer logs in again. */
async function later(app: App, developer: Developer, ms: number): Promise<App> {
  clock.advance(ms);
  const { email, password } = developer;
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  return { ...app, token: body.token };
}

test('of an application without events: 30 days of zeros', async () => {
  const body = await statistics(await newApp(api));
  const zeros = Array<number>(30).fill(0);
  expect(body).toEqual({
    status: 'success',
    from: daysAgo(29),
    to: today(),
    days: Array.from({ length: 30 }, (_, n) => daysAgo(29 - n)),
    series: {
      users: { new: zeros, deleted: zeros, total: zeros },
      logins: { total: zeros, by_tier: [], by_version: [], other_versions: zeros },
      activations: { total: zeros, by_tier: [] },
      live_sessions: zeros,
      active_users: zeros,
      refused_logins: { total: zeros, by_code: [] },
    },
  });
});

test('counts users, logins by tier and version, activations and live sessions of three days', async () => {
  const developer = await newDeveloper(api);
  let app = await newApp(api, developer);
  const first = daysAgo(0);
  const login = (user: object, version?: string) =>
    api.login(app.with({ ...user, ...(version !== undefined && { version }) }) as never);

  // The first day: two users, three logins, of which one replaces another.
  const [ada, bob] = [await newUser(api, app), await newUser(api, app)];
  const [[pro], [standard]] = [await app.keys(1, 'Pro'), await app.keys(1, 'Standard')];
  expect((await login(ada, '1.0.0')).status).toBe(200);
  await login(ada, '1.0.0');
  await api.activate(app.with({ username: ada.username, license_key: pro! }));
  await login(bob);

  // The second day: one more user, by a key; a login with the tier of a key, and a logout.
  app = await later(app, developer, DAY);
  await api.loginWithLicense({ app_id: app.app_id, license_key: standard!, hwid: newHwid() });
  const session = await login(ada, '2.0.0');
  await api.logout({ app_id: app.app_id, token: session.body.token });
  await login(ada, '__proto__');

  // The third day, an hour after midnight: sessions that began 9 hours before are still live.
  app = await later(app, developer, DAY - 9 * 3_600_000);
  await login(bob, '');
  const { days, series } = await statistics(app, `?from=${first}`);
  expect(days).toEqual([first, daysAgo(1), today()]);
  expect(series).toEqual({
    users: { new: [2, 1, 0], deleted: [0, 0, 0], total: [2, 3, 3] },
    logins: {
      total: [3, 3, 1],
      by_tier: [
        { tier: null, counts: [3, 0, 1] },
        { tier: 'Pro', counts: [0, 2, 0] },
        { tier: 'Standard', counts: [0, 1, 0] },
      ],
      by_version: [
        { version: null, counts: [1, 1, 1] },
        { version: '1.0.0', counts: [2, 0, 0] },
        { version: '2.0.0', counts: [0, 1, 0] },
        { version: '__proto__', counts: [0, 1, 0] },
      ],
      other_versions: [0, 0, 0],
    },
    activations: {
      total: [1, 1, 0],
      by_tier: [
        { tier: 'Pro', counts: [1, 0, 0] },
        { tier: 'Standard', counts: [0, 1, 0] },
      ],
    },
    // Ada's and Bob's; the license's and Ada's; those two and Bob's.
    live_sessions: [2, 2, 3],
    active_users: [2, 2, 1],
    refused_logins: { total: [0, 0, 0], by_code: [] },
  });
});

test('a range without today has the totals of its own end', async () => {
  const developer = await newDeveloper(api);
  let app = await newApp(api, developer);
  await newUser(api, app);
  app = await later(app, developer, DAY);
  await newUser(api, app);
  app = await later(app, developer, DAY);
  await newUser(api, app);
  const { days, series } = await statistics(app, `?from=${daysAgo(3)}&to=${daysAgo(1)}`);
  expect(days).toEqual([daysAgo(3), daysAgo(2), daysAgo(1)]);
  expect(series.users).toEqual({ new: [0, 1, 1], deleted: [0, 0, 0], total: [0, 1, 2] });
  expect(series.live_sessions).toEqual([0, 0, 0]);
});

test('a session is live at the end of a day unless it ends on that day', async () => {
  // To 10:00 of the next day.
  clock.advance(Date.parse(daysAgo(-1)) + 10 * 3_600_000 - clock.now().getTime());
  const developer = await newDeveloper(api);
  let app = await newApp(api, developer);
  const users = [await newUser(api, app), await newUser(api, app), await newUser(api, app)];
  const sessions = await Promise.all(users.map(async (user) => (await api.login(app.with(user))).body.token));
  const end = (place: number) => api.logout({ app_id: app.app_id, token: sessions[place]! });
  await end(0);
  expect((await statistics(app, `?from=${today()}`)).series.live_sessions).toEqual([2]);
  app = await later(app, developer, 15 * 3_600_000);
  await end(1);
  const { series } = await statistics(app, `?from=${daysAgo(1)}`);
  expect(series.live_sessions).toEqual([2, 1]);
  // The last one expires.
  app = await later(app, developer, 9 * 3_600_000);
  expect((await statistics(app, `?from=${daysAgo(1)}`)).series.live_sessions).toEqual([2, 0]);
});

test('shows the 20 versions with the most logins, of at most 100 per day', async () => {
  const app = await newApp(api);
  const publish = (versions: readonly string[]) =>
    service.database.knex.transaction((trx) =>
      services.statistics.count(
        trx,
        versions.map((version, position) => ({
          eventId: `evt_${position}`,
          position,
          type: 'session.created',
          audience: 'developer',
          appId: app.app_id,
          userId: null,
          sessionDigest: null,
          data: { tier: null, version, expires_at: new Date(clock.now().getTime() + DAY).toISOString() },
          createdAt: clock.now(),
        })),
      ),
    );
  const version = (n: number) => `1.${n}.0`;
  const versions = Array.from({ length: 130 }, (_, n) => version(n));
  // The first 25 twice; 130 in all, 30 more than are counted separately.
  await publish([...versions.slice(0, 25), ...versions.slice(0, 60)]);
  await publish(versions.slice(60));
  await publish([version(0), version(129)]);
  const { logins } = (await statistics(app, `?from=${today()}`)).series;
  expect(logins.total).toEqual([157]);
  expect(logins.by_version).toHaveLength(20);
  expect(logins.by_version[0]).toEqual({ version: version(0), counts: [3] });
  expect(logins.by_version.slice(1).every(({ counts }) => counts[0] === 2)).toBe(true);
  const shown = logins.by_version.reduce((sum, { counts }) => sum + counts[0]!, 0);
  expect(logins.other_versions).toEqual([157 - shown]);
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query(
    `select dimension, count(*)::int as rows, sum(count)::int as sum from daily_statistics
     where app_id = $1 and metric = 'logins' and dimension <> 'tier' group by dimension order by dimension`,
    [app.app_id],
  );
  expect(rows).toEqual([
    { dimension: 'more_versions', rows: 1, sum: 31 },
    { dimension: 'total', rows: 1, sum: 157 },
    { dimension: 'version', rows: 100, sum: 126 },
  ]);
});

test('events of a deleted application are not counted', async () => {
  const event = {
    eventId: 'evt_x',
    position: 1,
    type: 'user.created',
    audience: 'developer',
    appId: 'app_gone',
    userId: null,
    sessionDigest: null,
    data: {},
    createdAt: clock.now(),
  } as const;
  await service.database.knex.transaction((trx) => services.statistics.count(trx, [event]));
  const database = await connectTo(service.databaseUrl);
  const { rowCount } = await database.query(`select 1 from daily_statistics where app_id = 'app_gone'`);
  expect(rowCount).toBe(0);
});

test('the counts of a deleted application are cleared', async () => {
  const app = await newApp(api);
  expect((await api.login(app.with(await newUser(api, app)))).status).toBe(200);
  await statistics(app);
  const database = await connectTo(service.databaseUrl);
  const rows = async () =>
    (
      await database.query(
        `select 'days' from daily_statistics where app_id = $1
         union select 'hours' from hourly_statistics where app_id = $1
         union select 'users' from active_users where app_id = $1`,
        [app.app_id],
      )
    ).rowCount;
  expect(await rows()).toBe(3);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expectError(await get(app), 404, 'APPLICATION_NOT_FOUND');
  while ((await services.statistics.clearOf(app.app_id)) > 0);
  expect(await rows()).toBe(0);
});

test('refused logins by code, and users once a day however often they log in', async () => {
  const developer = await newDeveloper(api);
  let app = await newApp(api, developer);
  const [ada, bob] = [await newUser(api, app), await newUser(api, app)];
  for (const user of [ada, ada, bob, ada]) expect((await api.login(app.with(user))).status).toBe(200);
  const wrong = { ...ada, password: 'a wrong password' };
  for (let n = 0; n < 3; n += 1) expect((await api.login(app.with(wrong))).status).toBe(401);
  await services.refusedLogins.flush();
  await statistics(app);
  app = await later(app, developer, DAY);
  await api.login(app.with(ada));
  await api.login(app.with({ ...bob, hwid: newHwid() }));
  await api.login(app.with({ ...wrong, username: 'a stranger' }));
  await services.refusedLogins.flush();
  const { series } = await statistics(app, `?from=${daysAgo(1)}`);
  expect(series.active_users).toEqual([2, 1]);
  expect(series.refused_logins).toEqual({
    total: [3, 2],
    by_code: [
      { code: 'INVALID_CREDENTIALS', counts: [3, 1] },
      { code: 'HWID_MISMATCH', counts: [0, 1] },
    ],
  });
});

describe('by hour', () => {
  /** The hour of a time, as the contract shows it. */
  const hourAgo = (hours: number) =>
    `${new Date(clock.now().getTime() - hours * 3_600_000).toISOString().slice(0, 13)}:00:00.000Z`;

  test('every hour of yesterday and today up to now', async () => {
    const developer = await newDeveloper(api);
    let app = await newApp(api, developer);
    const ada = await newUser(api, app);
    const [key] = await app.keys(1);
    await api.login(app.with(ada));
    await api.activate(app.with({ username: ada.username, license_key: key! }));
    await statistics(app);
    app = await later(app, developer, 2 * 3_600_000);
    await newUser(api, app);
    await api.login(app.with(ada));
    await api.login(app.with(ada));
    await api.login(app.with({ ...ada, password: 'a wrong password' }));
    await services.refusedLogins.flush();
    const { hourly, days, series } = await statistics(app, '?hourly=true');
    const { hours, series: byHour } = hourly!;
    expect(days).toEqual([daysAgo(1), today()]);
    expect(hours).toHaveLength(24 + clock.now().getUTCHours() + 1);
    expect(hours[0]).toBe(`${daysAgo(1)}T00:00:00.000Z`);
    expect(hours.at(-1)).toBe(hourAgo(0));
    const last = (line: readonly number[]) => line.slice(-3);
    expect(hours.slice(-3)).toEqual([hourAgo(2), hourAgo(1), hourAgo(0)]);
    expect(last(byHour.logins)).toEqual([1, 0, 2]);
    expect(last(byHour.new_users)).toEqual([1, 0, 1]);
    expect(last(byHour.activations)).toEqual([1, 0, 0]);
    expect(last(byHour.refused_logins)).toEqual([0, 0, 1]);
    const sum = (line: readonly number[]) => line.reduce((total, count) => total + count, 0);
    for (const line of Object.values(byHour)) expect(line).toHaveLength(hours.length);
    expect([sum(byHour.logins), sum(byHour.new_users)]).toEqual([sum(series.logins.total), 2]);
    expect((await statistics(app, '?hourly=false')).hourly).toBeUndefined();
  });

  test('at most 7 of the last 31 days', async () => {
    const app = await newApp(api);
    const all = await statistics(app, `?hourly=true&from=${daysAgo(30)}&to=${daysAgo(24)}`);
    expect(all.hourly!.hours).toHaveLength(7 * 24);
    expect(all.days).toHaveLength(7);
    expectFaults(await get(app, `?hourly=true&from=${daysAgo(7)}`), 'query/from');
    expectFaults(await get(app, `?hourly=true&from=${daysAgo(31)}&to=${daysAgo(31)}`), 'query/from');
    expectFaults(await get(app, `?hourly=true&to=${daysAgo(30)}`), 'query/to');
  });

  test('is kept for 31 days, and active users for 4', async () => {
    const developer = await newDeveloper(api);
    let app = await newApp(api, developer);
    const ada = await newUser(api, app);
    await api.login(app.with(ada));
    await statistics(app);
    const database = await connectTo(service.databaseUrl);
    const rows = async () => {
      while ((await services.statistics.clearExpired()) > 0);
      const count = async (table: string) =>
        (await database.query(`select from ${table} where app_id = $1`, [app.app_id])).rowCount;
      return [await count('hourly_statistics'), await count('active_users')];
    };
    expect(await rows()).toEqual([2, 1]);
    clock.advance(3 * DAY);
    expect(await rows()).toEqual([2, 1]);
    clock.advance(DAY);
    expect(await rows()).toEqual([2, 0]);
    clock.advance(26 * DAY);
    expect(await rows()).toEqual([2, 0]);
    app = await later(app, developer, DAY);
    expect(await rows()).toEqual([0, 0]);
    expect((await statistics(app, `?from=${daysAgo(31)}`)).series.active_users![0]).toBe(1);
  });
});

describe('ranges', () => {
  let app: App;
  beforeAll(async () => {
    app = await newApp(api);
  });

  test('366 days, and not 367', async () => {
    const { days } = await statistics(app, `?from=${daysAgo(365)}`);
    expect(days).toHaveLength(366);
    expect(days[0]).toBe(daysAgo(365));
    expectFaults(await get(app, `?from=${daysAgo(366)}`), 'query/from');
  });

  test('days in the future are omitted', async () => {
    const { to, days } = await statistics(app, `?from=${daysAgo(1)}&to=2999-12-31`);
    expect({ to, days }).toEqual({ to: today(), days: [daysAgo(1), today()] });
  });

  test('one day, a leap day, and a day before the first event', async () => {
    expect((await statistics(app, `?from=${today()}&to=${today()}`)).days).toEqual([today()]);
    const leap = await statistics(app, '?from=2024-02-28&to=2024-03-01');
    expect(leap.days).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
    expect(leap.series.users.total).toEqual([0, 0, 0]);
    expect((await statistics(app, '?to=1000-01-30')).days).toHaveLength(30);
  });

  test.each([
    ['?from=2026-11-02&to=2026-11-01', 'query/from'],
    ['?from=2999-01-01', 'query/from'],
    ['?from=2999-01-01&to=2999-01-02', 'query/from'],
    ['?from=2025-02-29', 'query/from'],
    ['?from=yesterday', 'query/from'],
    ['?from=0000-01-01&to=0000-01-02', 'query/from', 'query/to'],
    ['?from=2026-11-01T00:00:00Z', 'query/from'],
    ['?to=', 'query/to'],
    ['?to=2026-11-01&to=2026-11-02', 'query/to'],
    ['?days=3', 'query/days'],
    ['?hourly=minute', 'query/hourly'],
    ['?hourly=', 'query/hourly'],
    ['?hourly=true&from=2026-11-01&to=2026-10-31', 'query/from'],
    ['?hourly=true&from=2999-01-01', 'query/from'],
  ])('%s is refused', async (query, ...pointers) => {
    expectFaults(await get(app, query), ...pointers);
  });
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one, regardless of the range', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  for (const query of ['', '?from=2999-01-01']) {
    const foreign = await get({ app_id: app.app_id, token }, query);
    expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
    expect(comparable(await get({ app_id: 'app_absent', token }, query))).toEqual(comparable(foreign));
  }
});
