import { setTimeout as delay } from 'node:timers/promises';
import argon2 from '@node-rs/argon2';
import bcrypt from '@node-rs/bcrypt';
import { describe, expect, test } from 'vitest';
import { clearDeletedApplication } from '../../../src/app/housekeeping.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, newHwid, unique, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { limitPlan } from '../support/plans.ts';
import { callUsers, registered, seatsOf, viewOf, type UserView } from '../support/users.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api, clock } = service;
const CSV = { 'content-type': 'text/csv' };
const NDJSON = { 'content-type': 'application/x-ndjson' };

type Sent = string | Uint8Array;

const importCsv = (app: Pick<App, 'app_id' | 'token'>, text: Sent, headers = {}) =>
  callUsers(api, app, 'POST', '/import', text, { ...CSV, ...headers });
const importLines = (app: App, ...lines: unknown[]) =>
  callUsers(
    api,
    app,
    'POST',
    '/import/ndjson',
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    NDJSON,
  );
const listed = async (app: App) =>
  (await callUsers<{ data: UserView[] }>(api, app, 'GET', '?limit=100')).body.data;
const login = (app: App, username: string, password: string, hwid = newHwid()) =>
  api.login(app.with({ username, password, hwid }));

/** The lines of a refusal. */
function linesOf({ body }: Awaited<ReturnType<typeof importCsv>>): [string, string][] {
  return (body.errors ?? []).map(({ pointer, detail }) => [pointer, detail]);
}

test('CSV: every column, quotes, empty cells and a byte order mark', async () => {
  const app = await newApp(api);
  const { status, body } = await importCsv(
    app,
    '\ufeffusername,email,role,tier,days,expires_at\r\n' +
      `"Ada, Countess",Ada@example.com,Beta tester,Pro,30,\r\n` +
      `"say ""hi""",,,VIP,,${inDays(clock, 2)}\r\n` +
      `plain,,,Standard,,9999-12-31T23:59:59.999Z`,
  );
  expect({ status, body }).toEqual({ status: 201, body: { status: 'success', imported: 3 } });
  const users = Object.fromEntries((await listed(app)).map((user) => [user.username, user]));
  expect(users['Ada, Countess']).toMatchObject({
    email: 'Ada@example.com',
    role: 'Beta tester',
    password_state: 'none',
    hwid_bound: false,
    subscription: { tier: 'Pro', expires_at: inDays(clock, 30) },
    created_at: clock.now().toISOString(),
  });
  expect(users['say "hi"']).toMatchObject({
    email: null,
    role: 'user',
    subscription: { tier: 'VIP', expires_at: inDays(clock, 2) },
  });
  expect(users['plain']!.subscription.expires_at).toBe('9999-12-31T23:59:59.999Z');
  expect(await seatsOf(api, app)).toBe(3);
});

test('JSON lines: numbers of days, null and blank lines', async () => {
  const app = await newApp(api);
  const { body } = await importLines(app, { username: 'ada', email: null, tier: 'Pro', days: 3 }, '', {
    username: 'grace "the" 1st',
  });
  expect(body['imported']).toBe(2);
  const [grace, ada] = await listed(app);
  expect(grace!.username).toBe('grace "the" 1st');
  expect(ada!.subscription).toMatchObject({ tier: 'Pro', expires_at: inDays(clock, 3) });
});

test('the subscription clock of a paused application is stopped for imported ends too', async () => {
  const app = await newApp(api);
  await app.patch({ paused: true });
  clock.advance(60_000);
  await importLines(app, { username: 'ada', tier: 'Pro', expires_at: inDays(clock, 2) });
  await app.patch({ paused: false });
  expect((await listed(app))[0]!.subscription.expires_at).toBe(inDays(clock, 2));
});

describe('at the first login an imported hash is replaced', async () => {
  const password = 'pässword of old';
  const hashes = {
    ...Object.fromEntries(
      await Promise.all(
        (['2a', '2b', '2y'] as const).map(
          async (version) =>
            // Test vectors of one algorithm, which differ if a password is hashed wrongly.
            [version, (await bcrypt.hash(password, 5)).replace(/^\$2b/, `$${version}`)] as const,
        ),
      ),
    ),
    argon2d: await argon2.hash(password, { algorithm: 0, memoryCost: 64, timeCost: 1 }),
    argon2i: await argon2.hash(password, { algorithm: 1, memoryCost: 4096, timeCost: 3, parallelism: 2 }),
    'argon2i of version 16': await argon2.hash(password, { algorithm: 1, memoryCost: 64, version: 0 }),
    argon2id: await argon2.hash(password, { memoryCost: 65_536, timeCost: 3, parallelism: 4, outputLen: 64 }),
  };

  test.each(Object.entries(hashes))('%s', async (_kind, hash) => {
    const app = await newApp(api);
    await importLines(app, { username: 'ada', password_hash: hash });
    const [{ user_id: userId }] = (await listed(app)) as [UserView];
    expect((await viewOf(api, app, userId)).password_state).toBe('imported');
    expectError(await login(app, 'ada', 'another password'), 401, 'INVALID_CREDENTIALS');
    expectError(await login(app, 'ada', hash.slice(0, 128)), 401, 'INVALID_CREDENTIALS');
    expect((await viewOf(api, app, userId)).password_state).toBe('imported');
    const hwid = newHwid();
    expect((await login(app, 'ada', password, hwid)).status).toBe(200);
    expect((await viewOf(api, app, userId)).password_state).toBe('set');
    const database = await connectTo(service.databaseUrl);
    const { rows } = await database.query<{ password_hash: string }>(
      'select password_hash from users where user_id = $1',
      [userId],
    );
    expect(rows[0]!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await login(app, 'ada', password, hwid)).status).toBe(200);
    expectError(await login(app, 'ada', 'another password', hwid), 401, 'INVALID_CREDENTIALS');
  });

  test('bcrypt: after the first login, the whole password counts, even beyond 72 bytes', async () => {
    const app = await newApp(api);
    const long = 'p'.repeat(72) + ' and the rest';
    await importLines(app, { username: 'ada', password_hash: await bcrypt.hash(long, 4) });
    const hwid = newHwid();
    expectError(await login(app, 'ada', 'p'.repeat(71), hwid), 401, 'INVALID_CREDENTIALS');
    expect((await login(app, 'ada', long, hwid)).status).toBe(200);
    for (const other of ['p'.repeat(72), `${'p'.repeat(72)} and another rest`]) {
      expectError(await login(app, 'ada', other, hwid), 401, 'INVALID_CREDENTIALS');
    }
    expect((await login(app, 'ada', long, hwid)).status).toBe(200);
  });

  test('bcrypt: a password that repeats another one with a NUL in between is not that one', async () => {
    const app = await newApp(api);
    await importLines(app, { username: 'ada', password_hash: await bcrypt.hash('abcdefgh', 4) });
    expectError(await login(app, 'ada', 'abcdefgh\0abcdefgh'), 401, 'INVALID_CREDENTIALS');
    expect((await login(app, 'ada', 'abcdefgh')).status).toBe(200);
  });

  test('concurrent logins all succeed', async () => {
    const app = await newApp(api);
    await importLines(app, { username: 'ada', password_hash: await bcrypt.hash(password, 5) });
    const hwid = newHwid();
    const responses = await Promise.all(Array.from({ length: 6 }, () => login(app, 'ada', password, hwid)));
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
  });
});

describe('all or nothing', () => {
  test('every faulty line is listed', async () => {
    const app = await newApp(api);
    await registered(api, app, { username: 'taken' });
    const response = await importCsv(
      app,
      [
        'username,email,role,password_hash,tier,days,expires_at',
        'good,,,,,,',
        ',a@example.com,,,,,',
        'zero\u200bwidth,,,,,,',
        `${'n'.repeat(65)},,,,,,`,
        'a,nowhere,,,,,',
        `b,,${'r'.repeat(33)},,,,`,
        'blank,, \u00a0,,,,',
        'c,,,$2x$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy,,,',
        'd,,,,None,1,',
        'e,,,,Pro,,',
        'f,,,,Pro,1,2100-01-01T00:00:00Z',
        'g,,,,,1,',
        'h,,,,Pro,0,',
        `i,,,,Pro,,${inDays(clock, 0)}`,
        'j,,,,Pro,,2100-01-01',
        'GOOD,,,,,,',
        'k,,',
      ].join('\n'),
    );
    expectError(response, 400, 'VALIDATION_FAILED');
    const found = linesOf(response);
    expect(found.map(([pointer]) => pointer)).toEqual(Array.from({ length: 16 }, (_, n) => `/line/${n + 3}`));
    expect(found.map(([, detail]) => detail.split(' ')[0])).toEqual([
      'username',
      'username',
      'username',
      'email',
      'role',
      'role',
      'password_hash',
      'tier',
      'tier',
      'tier',
      'days',
      'days',
      'expires_at',
      'expires_at',
      'username',
      'has',
    ]);
    expect(found[14]![1]).toContain('line 2');
    expect(await seatsOf(api, app)).toBe(1);
  });

  test.each(['2100-02-29T00:00:00Z', '2100-04-31T00:00:00+01:00', '2100-01-01T24:00:00Z'])(
    'a day that does not exist is refused: %s',
    async (moment) => {
      const app = await newApp(api);
      const response = await importCsv(app, `username,tier,expires_at\na,Pro,${moment}`);
      expect(linesOf(response).map(([pointer]) => pointer)).toEqual(['/line/2']);
      expect(await listed(app)).toEqual([]);
    },
  );

  test('USERNAME_TAKEN names every line', async () => {
    const app = await newApp(api);
    const { username } = await registered(api, app);
    const response = await importCsv(app, `username\nfree\n${username.toUpperCase()}\nalso free\n`);
    expectError(response, 409, 'USERNAME_TAKEN');
    expect(linesOf(response)).toEqual([['/line/3', 'username is taken']]);
    expect(await listed(app)).toHaveLength(1);
    expect(await seatsOf(api, app)).toBe(1);
  });

  test('of many faults, the first hundred are listed and all are counted', async () => {
    const app = await newApp(api);
    const response = await importCsv(app, `username,email\n${'x,nowhere\n'.repeat(250)}`);
    expect(linesOf(response)).toHaveLength(100);
    expect(response.body['detail']).toMatch(/^250 lines /);
  });

  test('QUOTA_EXCEEDED', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    await limitPlan(service.databaseUrl, developer, { users: 2 });
    expectError(await importCsv(app, 'username\na\nb\nc'), 403, 'QUOTA_EXCEEDED');
    expect(await listed(app)).toEqual([]);
    expect((await importCsv(app, 'username\na\nb')).status).toBe(201);
    expectError(await importCsv(app, 'username\nc'), 403, 'QUOTA_EXCEEDED');
    expect(await seatsOf(api, app)).toBe(2);
  });

  test('a failure writes no event, and a success writes one', async () => {
    const app = await newApp(api);
    const database = await connectTo(service.databaseUrl);
    const events = async () =>
      (
        await database.query('select type, data from events where app_id = $1 and type like $2', [
          app.app_id,
          'user.%',
        ])
      ).rows;
    await importCsv(app, 'username\na\na');
    expect(await events()).toEqual([]);
    await importCsv(
      app,
      'username,password_hash\na,\nb,$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    );
    expect(await events()).toMatchObject([{ type: 'user.imported', data: { amount: 2 } }]);
    expect(JSON.stringify(await events())).not.toContain('$2b$');
  });
});

describe('hashes that cannot be imported', async () => {
  const app = await newApp(api);
  const salt = 'c2FsdHNhbHRzYWx0c2FsdA';
  const hash = 'x'.repeat(43).replace(/x$/, 'w');
  test.each([
    ['nothing known', 'plaintext'],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
    ['bcrypt of cost 3', '$2b$03$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
    ['bcrypt of cost 15', '$2b$15$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
    ['bcrypt cut short', '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhW'],
    ['bcrypt whose salt is not whole bytes', '$2b$10$N9qo8uLOickgx2ZMRZoMyzIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
    ['a gigabyte', `$argon2id$v=19$m=1048576,t=1,p=1$${salt}$${hash}`],
    ['hundreds of passes', `$argon2id$v=19$m=64,t=500,p=1$${salt}$${hash}`],
    ['eight passes over 128 MiB', `$argon2id$v=19$m=131072,t=8,p=1$${salt}$${hash}`],
    ['no pass', `$argon2id$v=19$m=64,t=0,p=1$${salt}$${hash}`],
    ['less memory than lanes need', `$argon2id$v=19$m=8,t=1,p=2$${salt}$${hash}`],
    ['another version', `$argon2id$v=18$m=64,t=1,p=1$${salt}$${hash}`],
    ['another kind', `$argon2x$v=19$m=64,t=1,p=1$${salt}$${hash}`],
    ['a key id', `$argon2id$v=19$m=64,t=1,p=1,keyid=AAAA$${salt}$${hash}`],
    ['broken base64', `$argon2id$v=19$m=64,t=1,p=1$${salt}$${'x'.repeat(41)}`],
  ])('%s', async (_what, password_hash) => {
    const response = await importLines(app, { username: 'ada', password_hash });
    expectError(response, 400, 'VALIDATION_FAILED');
    expect(linesOf(response)[0]![1]).toMatch(/^password_hash must be /);
    // The response does not contain the hash.
    expect(JSON.stringify(response.body)).not.toContain(password_hash);
  });
});

describe('a request that is not an import', async () => {
  const app = await newApp(api);

  test.each<[string, Sent, Record<string, string>, string]>([
    ['no heading of users', 'name\nada', CSV, '/line/1'],
    ['an unknown column', 'username,hwid\nada,x', CSV, '/line/1'],
    ['a column twice', 'username,username\nada,x', CSV, '/line/1'],
    ['an open quote', 'username\n"ada', CSV, '/line/2'],
    ['a quote in the middle', 'username\na"da', CSV, '/line/2'],
    ['a line that is too long', `username\n${'a'.repeat(9000)}`, CSV, '/line/2'],
    ['nothing', '', CSV, '/line/1'],
    ['a heading alone', 'username\n', CSV, '/line/1'],
    ['no JSON', '{"username":"a"}\n{', NDJSON, '/line/2'],
    ['an array', '["ada"]', NDJSON, '/line/1'],
    ['an unknown member', '{"username":"a","hwid":"x"}', NDJSON, '/line/1'],
    ['__proto__', '{"username":"a","__proto__":{}}', NDJSON, '/line/1'],
    ['a member twice', '{"username":"a","username":"b"}', NDJSON, '/line/1'],
    ['a number for a name', '{"username":7}', NDJSON, '/line/1'],
    ['half a day', '{"username":"a","tier":"Pro","days":1.5}', NDJSON, '/line/1'],
    ['a lone surrogate', '{"username":"\\ud800"}', NDJSON, '/line/1'],
    ['a line without an end', `{"username":"${'a'.repeat(100_000)}`, NDJSON, '/line/1'],
  ])('%s', async (_what, text, headers, pointer) => {
    const path = headers === NDJSON ? '/import/ndjson' : '/import';
    const response = await callUsers(api, app, 'POST', path, text, headers);
    expectError(response, 400, 'VALIDATION_FAILED');
    expect(linesOf(response).map(([at]) => at)).toEqual([pointer]);
    expect(await seatsOf(api, app)).toBe(0);
  });

  test('bytes that are not UTF-8', async () => {
    const bytes = Buffer.from([0x75, 0xff, 0x0a]);
    expectError(await importCsv(app, bytes), 400, 'MALFORMED_REQUEST');
    const lines = await callUsers(api, app, 'POST', '/import/ndjson', bytes, NDJSON);
    expectError(lines, 400, 'MALFORMED_REQUEST');
    expect(await seatsOf(api, app)).toBe(0);
  });

  test('JSON is not an accepted media type, and each operation has its own format', async () => {
    const response = await callUsers(api, app, 'POST', '/import', { username: 'ada' });
    expectError(response, 415, 'UNSUPPORTED_MEDIA_TYPE');
    expectError(await importCsv(app, '{"username":"ada"}', NDJSON), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const table = await callUsers(api, app, 'POST', '/import/ndjson', 'username\nada', CSV);
    expectError(table, 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  test('another developer’s application', async () => {
    const other = await newApp(api);
    const stranger = { app_id: app.app_id, token: other.token };
    expectError(await importCsv(stranger, 'nonsense'), 404, 'APPLICATION_NOT_FOUND');
  });
});

test('50,000 users in one request, which does not block others, and not one more', async () => {
  const app = await newApp(api);
  const { token } = (await api.login(app.with(await registered(api, app)))).body;
  const lines = Array.from({ length: 50_000 }, (_, n) => `user number ${n},u${n}@example.com,Pro,30\n`);
  const heading = 'username,email,tier,days\n';
  let over = false;
  const importing = importCsv(app, heading + lines.join('')).finally(() => (over = true));
  let longest = 0;
  while (!over) {
    const began = performance.now();
    // More requests would only compete with the import.
    await delay(50);
    expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
    longest = Math.max(longest, performance.now() - began);
  }
  expect((await importing).body).toEqual({ status: 'success', imported: 50_000 });
  expect(await seatsOf(api, app)).toBe(50_001);
  // Far below the time of a request that waits for the whole import.
  expect(longest).toBeLessThan(2000);
  const one = await importCsv(await newApp(api), `${heading}${lines.join('')}more,,,\n`);
  expectError(one, 400, 'VALIDATION_FAILED');
  expect(linesOf(one)).toMatchObject([['/line/50002', expect.stringContaining('50000')]]);
}, 60_000);

test('APPLICATION_NOT_FOUND when the application is deleted before the end of the file', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { developerId } = developer;
  async function* file() {
    yield Buffer.from('username\nada\n');
    await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
    await expect.poll(() => clearDeletedApplication(service.services)).toBe(0);
  }
  const actor = { kind: 'developer', id: developerId, developerId, address: '::1' } as const;
  await expect(
    service.services.userImports.import(actor, app.app_id, file(), 'text/csv'),
  ).rejects.toMatchObject({ code: 'APPLICATION_NOT_FOUND' });
});

test('an Idempotency-Key imports once', async () => {
  const app = await newApp(api);
  const key = { 'idempotency-key': unique('key') };
  const first = await importCsv(app, 'username\nada', key);
  const again = await importCsv(app, 'username\nada', key);
  expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
  expectError(await importCsv(app, 'username\neve', key), 422, 'IDEMPOTENCY_KEY_REUSED');
  expect(await seatsOf(api, app)).toBe(1);
});

test('TOO_MANY_REQUESTS while another import of the developer runs', async () => {
  const developer = await newDeveloper(api);
  const [app, sibling] = [await newApp(api, developer), await newApp(api, developer)];
  const database = await connectTo(service.databaseUrl);
  await database.query('begin');
  await database.query(
    `insert into users (user_id, app_id, username, username_key, created_at) values ('usr_x', $1, 'ada', 'ada', now())`,
    [app.app_id],
  );
  const first = importCsv(app, 'username\nada');
  const waiting = () =>
    database
      .query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
      .then(({ rowCount }) => rowCount);
  await expect.poll(waiting).toBe(1);
  const second = await importCsv(sibling, 'username\nada');
  expectError(second, 429, 'TOO_MANY_REQUESTS');
  await database.query('rollback');
  expect((await first).status).toBe(201);
});

test('its end does not wait for a change that waits for a registration of one of its names', async () => {
  const app = await newApp(api);
  const [name, change] = [await connectTo(service.databaseUrl), await connectTo(service.databaseUrl)];
  await name.query('begin');
  await name.query(
    `insert into users (user_id, app_id, username, username_key, created_at) values ('usr_y', $1, 'ada', 'ada', now())`,
    [app.app_id],
  );
  const importing = importCsv(app, 'username\nada');
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await name.query(waiting)).rowCount, { interval: 5 }).toBe(1);
  await change.query('begin');
  await change.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [app.app_id]);
  await name.query('rollback');
  expect((await importing).status).toBe(201);
  await change.query('rollback');
});
