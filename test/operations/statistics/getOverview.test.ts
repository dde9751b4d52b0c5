import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newUser, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectFaults } from '../support/errors.ts';

type Overview = components['schemas']['OverviewResult'];

const service = await startTestService();
const { api, clock, services } = service;

const today = () => clock.now().toISOString().slice(0, 10);
const zeros = Array<number>(14).fill(0);
const NONE = { total: 0, unused: 0, redeemed: 0, paused: 0, banned: 0 };

const get = ({ token }: Pick<Developer, 'token'>, query = '') =>
  api.call<Overview>('GET', `/api/v2/dev/overview${query}`, undefined, { token });

/** The overview once every event is counted. */
async function overview(developer: Pick<Developer, 'token'>, query = ''): Promise<Overview> {
  const database = await connectTo(service.databaseUrl);
  await expect
    .poll(async () => (await database.query('select 1 from events where position is null')).rowCount)
    .toBe(0);
  const { status, body } = await get(developer, query);
  expect(status).toBe(200);
  return body;
}

test('of a new developer: nothing, and nothing to start with', async () => {
  const developer = await newDeveloper(api);
  const body = await overview(developer);
  const account = await api.call<components['schemas']['DeveloperResult']>(
    'GET',
    '/api/v2/dev/me',
    undefined,
    developer,
  );
  expect(body).toEqual({
    status: 'success',
    quotas: account.body.quotas,
    totals: {
      applications: 0,
      users: 0,
      live_sessions: 0,
      licenses: NONE,
      logins_today: 0,
      new_users_today: 0,
      refused_logins_today: 0,
    },
    get_started: { application: false, license: false, user: false, login: false },
    days: expect.toSatisfy((days: string[]) => days.length === 14 && days.at(-1) === today()),
    data: [],
    next_cursor: null,
  });
});

test('two applications with their numbers, newest first, and the totals', async () => {
  const developer = await newDeveloper(api);
  const first = await newApp(api, developer);
  expect((await overview(developer)).get_started).toEqual({
    application: true,
    license: false,
    user: false,
    login: false,
  });
  await newUser(api, first);
  clock.advance(DAY);
  const { email, password } = developer;
  const { token } = (await api.post<{ token: string }>('/api/v2/dev/login', { email, password })).body;
  const second = await newApp(api, { ...developer, token });
  const ada = await newUser(api, second);
  await newUser(api, second);
  for (let n = 0; n < 2; n += 1) await api.login(second.with(ada));
  await api.login(second.with({ ...ada, password: 'a wrong password' }));
  await services.refusedLogins.flush();
  const [key] = await second.keys(3);
  await api.activate(second.with({ username: ada.username, license_key: key! }));
  await second.patch({ paused: true });
  // Of another developer.
  await newUser(api, await newApp(api));

  const body = await overview({ token });
  expect(body.data.map(({ app_id }) => app_id)).toEqual([second.app_id, first.app_id]);
  const [newest, oldest] = body.data;
  const licenses = { ...NONE, total: 3, unused: 2, redeemed: 1 };
  expect(newest).toEqual({
    app_id: second.app_id,
    name: expect.any(String),
    status_code: 'paused',
    created_at: clock.now().toISOString(),
    users: 2,
    live_sessions: 1,
    licenses,
    refused_logins_today: 1,
    series: { logins: [...zeros.slice(1), 2], new_users: [...zeros.slice(1), 2] },
  });
  expect(oldest).toMatchObject({
    status_code: 'active',
    users: 1,
    live_sessions: 0,
    licenses: NONE,
    refused_logins_today: 0,
    series: { logins: zeros, new_users: [...zeros.slice(2), 1, 0] },
  });
  expect(body.totals).toEqual({
    applications: 2,
    users: 3,
    live_sessions: 1,
    licenses,
    logins_today: 2,
    new_users_today: 2,
    refused_logins_today: 1,
  });
  expect(body.quotas).toMatchObject({ apps: { used: 2 }, users_per_app: { used: 2 } });
  expect(body.get_started).toEqual({ application: true, license: true, user: true, login: true });

  // A deleted application is in nothing.
  await api.call('DELETE', `/api/v2/dev/apps/${second.app_id}`, undefined, { token });
  const { totals, data, get_started } = await overview({ token });
  expect(data.map(({ app_id }) => app_id)).toEqual([first.app_id]);
  expect(totals).toMatchObject({ applications: 1, users: 1, licenses: NONE, logins_today: 0 });
  expect(get_started.login).toBe(false);
});

test('has a login even if it was long ago', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  await api.login(app.with(await newUser(api, app)));
  clock.advance(40 * DAY);
  const { email, password } = developer;
  const { token } = (await api.post<{ token: string }>('/api/v2/dev/login', { email, password })).body;
  const { get_started, totals, data } = await overview({ token });
  expect(get_started.login).toBe(true);
  expect(totals).toMatchObject({ live_sessions: 0, logins_today: 0 });
  expect(data[0]!.series.logins).toEqual(zeros);
});

test('1,000 applications: the same statements as for one, in pages with the same totals', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const statements: {
    readonly sql: string;
    readonly bindings: readonly unknown[];
    readonly __knexTxId?: string;
  }[] = [];
  const { knex } = service.database;
  const record = (statement: (typeof statements)[number]) => void statements.push(statement);
  const count = async (query = '') => {
    statements.length = 0;
    knex.on('query', record);
    const body = await overview(developer, query);
    knex.off('query', record);
    // The relay and housekeeping run statements too, in other transactions.
    const { __knexTxId: transaction } = statements.find(({ sql }) => sql.includes('as found'))!;
    const own = statements.filter(({ __knexTxId }) => __knexTxId === transaction);
    return { body, statements: own.length };
  };
  const { statements: few } = await count();
  expect(few).toBeGreaterThan(4);

  const database = await connectTo(service.databaseUrl);
  await database.query(
    `with made as (
       insert into applications (app_id, developer_id, name, secret_sealed, created_at, updated_at)
       select 'app_' || lpad(n::text, 26, '0'), developer_id, 'App ' || n, secret_sealed, created_at, created_at
       from applications, generate_series(1, 999) n where app_id = $1 returning app_id)
     insert into application_usage (app_id, users) select app_id, 2 from made`,
    [app.app_id],
  );
  await database.query(
    `insert into daily_statistics select app_id, $2::date - d, m, 'total', '', 3
     from applications, generate_series(0, 20) d, unnest(array['logins', 'users_new', 'refused_logins']) m
     where developer_id = $1`,
    [developer.developerId, today()],
  );
  await database.query(
    `insert into license_counts select app_id, 'Pro', s, 5 from applications, unnest(array['unused', 'banned']) s
     where developer_id = $1`,
    [developer.developerId],
  );
  await database.query('analyze daily_statistics, license_counts, applications, application_usage');

  const found = [];
  let cursor: string | null = '';
  for (let pages = 0; cursor !== null; pages += 1) {
    const { body, statements: used } = await count(`?limit=100${cursor && `&cursor=${cursor}`}`);
    expect(used).toBe(few);
    expect(body.totals).toMatchObject({
      applications: 1000,
      users: 1998,
      licenses: { ...NONE, total: 10_000, unused: 5000, banned: 5000 },
      logins_today: 3000,
      refused_logins_today: 3000,
    });
    found.push(...body.data);
    cursor = body.next_cursor;
    expect(pages).toBeLessThan(10);
  }
  expect(found.map(({ app_id }) => app_id)).toEqual(
    found
      .map(({ app_id }) => app_id)
      .toSorted()
      .reverse(),
  );
  expect(new Set(found.map(({ app_id }) => app_id)).size).toBe(1000);
  expect(found.every(({ series }) => series.logins.every((logins) => logins === 3))).toBe(true);

  // Each statement finds the rows of the applications by a key.
  await count('?limit=100');
  const plans = [];
  for (const { sql, bindings } of statements) {
    if (!/daily_statistics|license_count|sessions/.test(sql) || !/unnest|any \(/.test(sql)) continue;
    const { rows } = await knex.raw<{ rows: { 'QUERY PLAN': string }[] }>(
      `explain ${sql.replaceAll(/\$\d+/g, '?')}`,
      bindings as never,
    );
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  expect(plans.length).toBeGreaterThanOrEqual(4);
  for (const plan of plans) expect(plan).not.toContain('Seq Scan on daily_statistics');
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
  ['?app_id=x', 'query/app_id'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await get(await newDeveloper(api), query), pointer);
});
