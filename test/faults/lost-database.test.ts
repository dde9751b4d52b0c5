import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { serverProcesses, stopServer } from '../platform/database/support/processes.ts';
import { LightClient, tally, type LightResponse } from '../concurrency/load.ts';
import {
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newSession,
  newUser,
  unique,
  type App,
  type User,
} from '../support/fixtures.ts';
import { spawnService, temporaryFolder } from '../support/processes.ts';
import { DatabaseProxy } from './database-proxy.ts';

/** The documented maximums are 2 s. Other tests share the machine, and a call without a timeout would hang forever. */
const RESPONSE_WITHIN_MS = 15_000;
const RECOVERY_WITHIN_MS = 20_000;
/** Several outages one after another, each of the longest duration. */
const PATIENCE_MS = 120_000;

const UNKNOWN_KEY = '00000-00000-00000-00000-00000';
const END_CONNECTIONS = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'service'`;

const dataDir = await temporaryFolder(afterAll);
const server = await startEmbeddedPostgres({
  dataDir,
  logger: createLogger('silent'),
  settings: { fsync: 'off', max_connections: '40' },
});
afterAll(() => server.stop());
const { host, user } = server.connection;
const proxy = await DatabaseProxy.open(join(host, '.s.PGSQL.5432'));
afterAll(() => proxy.close());
// Not a superuser, like in operation, because connection limits do not apply to those.
await sql('create role service login');
await sql('alter database latchkey owner to service');
const service = await spawnService(
  {
    DATABASE_URL: `postgresql://service@127.0.0.1:${proxy.port}/latchkey`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'fatal',
  },
  afterAll,
);
const client = new LightClient(service.api.baseUrl);

let app: App;
let owner: User;
let token: string;
let letServerGoOn = (): void => {};

beforeAll(async () => {
  app = await newApp(service.api);
  ({ token, owner } = await newSession(service.api, app));
});

afterEach(async () => {
  letServerGoOn();
  await proxy.resume();
  expect(service.child.exitCode, service.output().stderr).toBeNull();
  expect(service.child.signalCode).toBeNull();
});

async function sql<Row extends pg.QueryResultRow>(
  text: string,
  values?: unknown[],
  database = 'latchkey',
): Promise<Row[]> {
  const direct = new pg.Client({ host, user, database });
  await direct.connect();
  try {
    return (await direct.query<Row>(text, values)).rows;
  } finally {
    await direct.end();
  }
}

const verify = () => client.verify({ app_id: app.app_id, token });

/** One request of every operation that needs the database. */
function everyOperation(bearer: string): Record<string, () => Promise<LightResponse>> {
  const ofApp = `/api/v2/dev/apps/${app.app_id}`;
  const call = (method: string, path: string, body?: object) => () => client.call(method, path, body, bearer);
  return {
    init: () => client.post('/api/v1/client/init', app.with({})),
    register: () =>
      client.register(app.with({ username: unique('user'), password: 'a user password', hwid: newHwid() })),
    login: () => client.login(app.with(owner)),
    verify,
    activate: () => client.activate(app.with({ username: owner.username, license_key: UNKNOWN_KEY })),
    logout: () => client.logout({ app_id: app.app_id, token: 'A'.repeat(22) }),
    'v2 login': () => client.signed('login', app, { ...owner, nonce: newNonce() }),
    'v2 license login': () =>
      client.signed('login-license', app, { license_key: UNKNOWN_KEY, hwid: newHwid(), nonce: newNonce() }),
    'v2 verify': () => client.signed('verify-session', app, { token, nonce: newNonce() }),
    'v2 verify, unsigned': () =>
      client.post('/api/v2/client/verify-session', { app_id: app.app_id, token, nonce: newNonce() }),
    'v2 logout': () => client.signed('logout', app, { session_token: 'A'.repeat(22), nonce: newNonce() }),
    plans: () => client.call('GET', '/api/v1/client/plans'),
    // They query nothing, but are rate limited.
    'sandbox, auth': () => client.post('/api/v1/sandbox/auth', { app_id: 'x', username: 'x', hwid: 'x' }),
    'sandbox, verify': () =>
      client.post('/api/v1/sandbox/verify-session', { app_id: 'x', token: 'no such token' }),
    'developer registers': () =>
      client.post('/api/v2/dev/register', { email: `${unique('dev')}@example.com`, password: 'a password' }),
    'developer logs in': () =>
      client.post('/api/v2/dev/login', { email: 'unknown@example.com', password: 'a password' }),
    'apps, list': call('GET', '/api/v2/dev/apps'),
    'apps, create': call('POST', '/api/v2/dev/apps', { name: 'App' }),
    'app, get': call('GET', ofApp),
    'app, change': call('PATCH', ofApp, { hwid_lock: true }),
    // A missing resource: if the deletion succeeded, later tests would lose theirs.
    'app, delete': call('DELETE', `/api/v2/dev/apps/app_${'0'.repeat(26)}`),
    'licenses, list': call('GET', `${ofApp}/licenses`),
    'licenses, create': call('POST', `${ofApp}/licenses`, { amount: 1, tier: 'Standard', duration_days: 1 }),
    'bans, list': call('GET', `${ofApp}/bans`),
    'bans, create': call('POST', `${ofApp}/bans`, { kind: 'network', network: '203.0.113.0/24' }),
    'ban, delete': call('DELETE', `${ofApp}/bans/ban_${'0'.repeat(26)}`),
    health: () => client.call('GET', '/health'),
  };
}

function expectUnavailable(response: LightResponse, what: string): void {
  const expected =
    what === 'health'
      ? { status: 500, code: 'HEALTH_CHECK_FAILED' }
      : { status: 503, code: 'SERVICE_UNAVAILABLE' };
  expect(response, `${what}: ${JSON.stringify(response.body)}`).toMatchObject(expected);
  expect(response.headers.get('content-type'), what).toBe('application/problem+json');
  if (what === 'health') expect(response.body['detail']).toMatch(/database|cluster/);
  if (what !== 'health') expect(response.headers.get('retry-after'), what).toMatch(/^[1-9]\d*$/);
  expect(response.ms, what).toBeLessThan(RESPONSE_WITHIN_MS);
}

/** Sends one request of every operation at once, three times. @returns the longest time */
async function everythingIsUnavailable(): Promise<number> {
  let longest = 0;
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(
      Object.entries(everyOperation(app.token)).map(async ([what, send]) => {
        const response = await send();
        expectUnavailable(response, what);
        longest = Math.max(longest, response.ms);
      }),
    );
    await delay(100);
  }
  return longest;
}

/** @returns the milliseconds until every operation responds without a 5xx again */
async function recovery(): Promise<number> {
  const began = performance.now();
  for (;;) {
    const responses = await Promise.all([
      verify(),
      client.login(app.with(owner)),
      client.call('GET', '/health'),
    ]);
    const ms = performance.now() - began;
    if (responses.every(({ status }) => status === 200 || status === 401)) {
      ({ token } = responses[1].body as { token: string });
      expect(ms).toBeLessThan(RECOVERY_WITHIN_MS);
      return ms;
    }
    if (ms > RECOVERY_WITHIN_MS) expect(tally(responses)).toEqual({ 200: 3 });
    await delay(20);
  }
}

/** A load of verifications and activations that runs until it is stopped. */
function startLoad(keys: string[]): {
  readonly responses: readonly LightResponse[];
  readonly redeemed: readonly string[];
  stop(): Promise<void>;
} {
  let over = false;
  const responses: LightResponse[] = [];
  const redeemed: string[] = [];
  const workers = [
    ...Array.from({ length: 6 }, async () => {
      for (; !over; await delay(5)) responses.push(await verify());
    }),
    ...Array.from({ length: 3 }, async () => {
      for (; !over; await delay(5))
        responses.push(await client.call('GET', '/api/v2/dev/apps', undefined, app.token));
    }),
    ...Array.from({ length: 4 }, async () => {
      for (; !over && keys.length > 0; await delay(10)) {
        const key = keys.pop()!;
        const response = await client.activate(app.with({ username: owner.username, license_key: key }));
        responses.push(response);
        if (response.status === 200) redeemed.push(key);
      }
    }),
  ];
  return {
    responses,
    redeemed,
    async stop() {
      over = true;
      await Promise.all(workers);
    },
  };
}

/** Each response is a success or reports that the service is unavailable, in time. */
function expectOnlyUnavailable(responses: readonly LightResponse[]): void {
  const kinds = tally(responses);
  expect(Object.keys(kinds).filter((kind) => kind !== '200' && kind !== '503 SERVICE_UNAVAILABLE')).toEqual(
    [],
  );
  for (const response of responses.filter(({ status }) => status === 503))
    expectUnavailable(response, 'under load');
}

/** Every acknowledged change exists, and every redeemed key added its days. */
async function expectDaysOfKeys(acknowledged: readonly string[]): Promise<void> {
  const [row] = await sql<{ spent: number; days: number | null }>(
    `select (select count(*)::int from licenses where redeemed_by = u.user_id) as spent,
         extract(epoch from s.ends_at - (select min(redeemed_at) from licenses where redeemed_by = u.user_id))
           / 86400 as days
     from users u left join subscriptions s using (user_id) where u.username = $1`,
    [owner.username],
  );
  expect(Number(row!.days ?? 0)).toBe(row!.spent * 30);
  expect(row!.spent).toBeGreaterThanOrEqual(acknowledged.length);
}

describe('while the database', { timeout: PATIENCE_MS }, () => {
  test('hangs, every operation returns 503 in time, and all works soon after its return', async () => {
    await Promise.all(Array.from({ length: 20 }, verify));
    letServerGoOn = stopServer(dataDir);
    const longest = await everythingIsUnavailable();
    // The service knows that it is unavailable, so requests do not wait, or each of these would take seconds.
    const times: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const response = await verify();
      expectUnavailable(response, 'verify');
      times.push(response.ms);
    }
    expect(Math.min(...times)).toBeLessThan(500);
    letServerGoOn();
    const ms = await recovery();
    console.log(`hang: responds within ${longest.toFixed(0)} ms, recovery ${ms.toFixed(0)} ms`);
  });

  test('resets connections, likewise', async () => {
    proxy.hang();
    const longest = await everythingIsUnavailable();
    await proxy.resume();
    const ms = await recovery();
    console.log(`silent network: responds within ${longest.toFixed(0)} ms, recovery ${ms.toFixed(0)} ms`);
  });

  test('refuses connections, likewise', async () => {
    await proxy.refuse();
    const longest = await everythingIsUnavailable();
    await proxy.resume();
    const ms = await recovery();
    console.log(`refused: responds within ${longest.toFixed(0)} ms, recovery ${ms.toFixed(0)} ms`);
  });

  test.each([
    [
      'accepts no more connections',
      'alter database latchkey connection limit 0',
      'alter database latchkey connection limit -1',
    ],
    [
      'is closed for maintenance',
      'alter database latchkey allow_connections false',
      'alter database latchkey allow_connections true',
    ],
    ['does not admit this account', 'alter role service nologin', 'alter role service login'],
  ])('%s, likewise', async (_what, close, open) => {
    await sql(close, [], 'postgres');
    try {
      await sql(END_CONNECTIONS, [], 'postgres');
      // They receive a signal, and end shortly after it.
      await expect
        .poll(() => sql(`select 1 from pg_stat_activity where usename = 'service'`, [], 'postgres'))
        .toEqual([]);
      await everythingIsUnavailable();
    } finally {
      await sql(open, [], 'postgres');
      await recovery();
    }
  });
});

describe('under load', { timeout: PATIENCE_MS }, () => {
  test('connections that the database ends fail as 503, and no change is partial', async () => {
    const { responses, redeemed, stop } = startLoad(await app.keys(300));
    for (let round = 0; round < 6; round += 1) {
      await delay(150);
      await sql(END_CONNECTIONS);
    }
    await expect.poll(() => redeemed.length).toBeGreaterThan(0);
    await delay(100);
    await stop();
    expectOnlyUnavailable(responses);
    await expectDaysOfKeys(redeemed);
    console.log(`ended connections: ${JSON.stringify(tally(responses))}`);
  });

  test('connections that the network resets fail as 503, and no change is partial', async () => {
    const { responses, redeemed, stop } = startLoad(await app.keys(300));
    for (let round = 0; round < 6; round += 1) {
      await delay(150);
      proxy.cut();
    }
    await delay(100);
    await stop();
    expectOnlyUnavailable(responses);
    await expectDaysOfKeys(redeemed);
    console.log(`reset connections: ${JSON.stringify(tally(responses))}`);
  });

  test.each([
    ['restarts', 'SIGINT'],
    ['crashes', 'SIGKILL'],
  ] as const)('a database that %s fails requests as 503 only, and all works again', async (_what, signal) => {
    const { responses, redeemed, stop } = startLoad(await app.keys(300));
    await delay(300);
    const [postmaster] = serverProcesses(dataDir);
    process.kill(postmaster!, signal);
    // The supervisor of the service starts it again.
    const began = performance.now();
    for (;;) {
      await delay(20);
      if (performance.now() - began > 30_000) throw new Error('the database did not come back');
      // The old one may respond for a moment, and its statistics may disappear while they are read.
      const back = await sql('select 1')
        .then(() => serverProcesses(dataDir)[0] !== postmaster)
        .catch(() => false);
      if (back) break;
    }
    const down = performance.now() - began;
    const ms = await recovery();
    await delay(200);
    await stop();
    // The login during recovery may have replaced the session.
    expectOnlyUnavailable(responses.filter(({ code }) => code !== 'SESSION_INVALID'));
    expect(tally(responses)['503 SERVICE_UNAVAILABLE']).toBeGreaterThan(0);
    await expectDaysOfKeys(redeemed);
    console.log(`${signal}: database back after ${down.toFixed(0)} ms, service ${ms.toFixed(0)} ms later`);
  });

  test('a user whose row is locked gets 503 in time, and others are not affected', async () => {
    const locker = new pg.Client({ host, user, database: 'latchkey' });
    await locker.connect();
    try {
      const other = await newUser(service.api, app);
      await locker.query('begin');
      await locker.query('select 1 from users where username = $1 for update', [owner.username]);
      const keys = await app.keys(5);
      const locked = keys.map((key) =>
        client.activate(app.with({ username: owner.username, license_key: key })),
      );
      let over = 0;
      for (const each of locked) void each.then(() => (over += 1));
      const waiting = `select 1 from pg_stat_activity where usename = 'service' and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await sql(waiting)).length, { interval: 10 }).toBe(locked.length);
      const free = await Promise.all([verify(), client.login(app.with(other))]);
      expect(free.map(({ status }) => status)).toEqual([200, 200]);
      // They did not wait for the locked ones.
      expect(over).toBe(0);
      for (const response of await Promise.all(locked)) expectUnavailable(response, 'locked');
      await locker.query('rollback');
      // They were not spent, so they work afterwards.
      const again = await Promise.all(
        keys.map((key) => client.activate(app.with({ username: owner.username, license_key: key }))),
      );
      expect(tally(again)).toEqual({ 200: 5 });
    } finally {
      await locker.end();
    }
  });
});

test(
  'a developer with a valid token never gets 401 because the database is lost',
  { timeout: PATIENCE_MS },
  async () => {
    const developer = await newDeveloper(service.api);
    const statuses: number[] = [];
    let over = false;
    onTestFinished(() => void (over = true));
    const polling = (async () => {
      for (; !over; await delay(5))
        statuses.push((await client.call('GET', '/api/v2/dev/apps', undefined, developer.token)).status);
    })();
    const received = async (status: number) => {
      const from = statuses.length;
      await expect.poll(() => statuses.slice(from)).toContain(status);
    };
    await received(200);
    await proxy.refuse();
    await received(503);
    await delay(150);
    await proxy.resume();
    await received(200);
    over = true;
    await polling;
    expect([...new Set(statuses)].toSorted()).toEqual([200, 503]);
  },
);
