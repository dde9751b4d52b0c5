import { hash } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newHwid, newUser, unique } from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api, clock, databaseUrl } = service;

const decode = (part: string | undefined) =>
  JSON.parse(Buffer.from(part!, 'base64url').toString()) as Record<string, unknown>;

test('returns a session of exactly 24 hours', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const { status, body } = await api.login(app.with(user));
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    token: expect.any(String),
    session_id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    expiry: inDays(clock, 1),
    user: {
      id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
      username: user.username,
      hwid: user.hwid,
      role: 'user',
    },
  });
  expect(Buffer.from(body.session_id, 'base64url')).toHaveLength(16);
});

test('the token is a JWS with the session id and nothing about the person', async () => {
  const app = await newApp(api);
  const { body } = await api.login(app.with(await newUser(api, app)));
  const [header, claims, signature, ...more] = body.token.split('.');
  expect(more).toEqual([]);
  expect(decode(header)).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: expect.any(String) });
  const seconds = clock.now().getTime() / SECOND;
  expect(decode(claims)).toEqual({
    iss: service.baseUrl,
    aud: app.app_id,
    sub: body.user!.id,
    sid: body.session_id,
    iat: seconds,
    exp: seconds + 86_400,
  });
  expect(Buffer.from(signature!, 'base64url')).toHaveLength(64);
});

test('every session has a unique id and token, even in the same millisecond', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const [first, second] = [await api.login(app.with(user)), await api.login(app.with(user))];
  expect(second.body.session_id).not.toBe(first.body.session_id);
  expect(second.body.token).not.toBe(first.body.token);
});

describe('INVALID_CREDENTIALS', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);

  test('is the same for an unknown user and a wrong password', async () => {
    const wrong = await api.login(app.with({ ...user, password: `${user.password}!` }));
    const unknown = await api.login(app.with({ ...user, username: 'unknown' }));
    expectError(wrong, 401, 'INVALID_CREDENTIALS');
    expect(comparable(unknown)).toEqual(comparable(wrong));
    expect([...unknown.headers.keys()]).toEqual([...wrong.headers.keys()]);
  });

  test('is the same on another machine: the mismatch is revealed only after the right password', async () => {
    const elsewhere = { ...user, hwid: newHwid() };
    const wrong = await api.login(app.with({ ...elsewhere, password: 'wrong' }));
    const unknown = await api.login(app.with({ ...elsewhere, username: 'unknown' }));
    expectError(wrong, 401, 'INVALID_CREDENTIALS');
    expect(comparable(unknown)).toEqual(comparable(wrong));
    expectError(await api.login(app.with(elsewhere)), 403, 'HWID_MISMATCH');
  });

  test.each(['', ' a user password', 'a user password ', 'A USER PASSWORD', 'a user passwor'])(
    'for the password %j, or VALIDATION_FAILED',
    async (password) => {
      const response = await api.login(app.with({ ...user, password }));
      if (password === '') expectFaults(response, '/password');
      else expectError(response, 401, 'INVALID_CREDENTIALS');
    },
  );

  test('in another application that has a user of this name', async () => {
    const other = await newApp(api);
    await newUser(api, other, { username: user.username, password: 'another password' });
    expectError(await api.login(other.with(user)), 401, 'INVALID_CREDENTIALS');
  });

  test('ends no session', async () => {
    const { body } = await api.login(app.with(user));
    await api.login(app.with({ ...user, password: 'wrong' }));
    expect((await api.verify({ app_id: app.app_id, token: body.token })).status).toBe(200);
  });
});

describe('hardware', () => {
  test('the first login binds the machine if registration has not', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const database = await connectTo(databaseUrl);
    await database.query('update users set hwid_digest = null where username = $1', [user.username]);
    const machine = { ...user, hwid: newHwid() };
    expectError(await api.login(app.with({ ...machine, password: 'wrong' })), 401, 'INVALID_CREDENTIALS');
    expect((await api.login(app.with(machine))).status).toBe(200);
    expectError(await api.login(app.with(user)), 403, 'HWID_MISMATCH');
    expect((await api.login(app.with(machine))).status).toBe(200);
  });

  test('a login that binds the machine writes one event, without the identifier', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const database = await connectTo(databaseUrl);
    const boundEvents = async () => {
      const { rows } = await database.query<{ username: string; data: object }>(
        `select u.username, e.data from events e join users u using (user_id)
         where e.app_id = $1 and e.type = 'user.hwid_bound'`,
        [app.app_id],
      );
      return rows;
    };
    await api.login(app.with(user));
    expect(await boundEvents()).toEqual([]);
    await database.query('update users set hwid_digest = null where username = $1', [user.username]);
    await app.patch({ require_subscription: true });
    expectError(await api.login(app.with(user)), 403, 'SUBSCRIPTION_EXPIRED');
    expect(await boundEvents()).toEqual([]);
    await app.patch({ require_subscription: false });
    for (const hwid of [user.hwid, user.hwid, newHwid()]) await api.login(app.with({ ...user, hwid }));
    expect(await boundEvents()).toEqual([{ username: user.username, data: {} }]);
  });

  test('concurrent first logins of two machines bind one', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const database = await connectTo(databaseUrl);
    await database.query('update users set hwid_digest = null where username = $1', [user.username]);
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => api.login(app.with({ ...user, hwid: newHwid() }))),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
  });

  test('with the lock off, any machine can log in and the binding stays', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    await app.patch({ hwid_lock: false });
    const elsewhere = { ...user, hwid: newHwid() };
    expect((await api.login(app.with(elsewhere))).body.user).toMatchObject({ hwid: elsewhere.hwid });
    await app.patch({ hwid_lock: true });
    expectError(await api.login(app.with(elsewhere)), 403, 'HWID_MISMATCH');
    expect((await api.login(app.with(user))).status).toBe(200);
  });

  test('a refused machine neither ends nor creates a session', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const { body } = await api.login(app.with(user));
    expectError(await api.login(app.with({ ...user, hwid: newHwid() })), 403, 'HWID_MISMATCH');
    expect((await api.verify({ app_id: app.app_id, token: body.token })).status).toBe(200);
  });

  test('no part of an identifier is stored in plain text', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    await api.login(app.with(user));
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query<{ row: string }>(
      `select u::text || s::text as row from users u join sessions s using (user_id) where u.username = $1`,
      [user.username],
    );
    expect(rows[0]!.row).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
    expect(rows[0]!.row).not.toContain(user.hwid);
    expect(rows[0]!.row).not.toContain(user.password);
  });
});

test('APPLICATION_PAUSED for every login while paused, for any password', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  await app.patch({ status: 'paused' });
  expectError(await api.login(app.with(user)), 403, 'APPLICATION_PAUSED');
  expectError(await api.login(app.with({ ...user, password: 'wrong' })), 403, 'APPLICATION_PAUSED');
  await app.patch({ paused: false });
  expect((await api.login(app.with(user))).status).toBe(200);
});

test('INVALID_APP_CREDENTIALS and APPLICATION_INACTIVE', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const user = await newUser(api, app);
  expectError(
    await api.login({ ...user, app_id: app.app_id, secret: other.secret }),
    401,
    'INVALID_APP_CREDENTIALS',
  );
  await app.patch({ status: 'disabled' });
  expectError(await api.login(app.with(user)), 401, 'APPLICATION_INACTIVE');
});

describe('live sessions', () => {
  test('are 5 per user: the oldest ends', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false });
    const user = await newUser(api, app);
    const tokens: string[] = [];
    for (let machine = 0; machine < 7; machine++) {
      clock.advance(SECOND);
      tokens.push((await api.login(app.with({ ...user, hwid: newHwid() }))).body.token);
    }
    const responses = await Promise.all(tokens.map((token) => api.verify({ app_id: app.app_id, token })));
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 200, 200, 200, 200, 200]);
    expectError(responses[0]!, 401, 'SESSION_INVALID');
  });

  test('are as many as the developer sets, counted for each user', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false, max_sessions: 1 });
    const [ada, grace] = [await newUser(api, app), await newUser(api, app)];
    const first = await api.login(app.with(ada));
    const others = await api.login(app.with(grace));
    clock.advance(1);
    await api.login(app.with({ ...ada, hwid: newHwid() }));
    const verify = (token: string) => api.verify({ app_id: app.app_id, token });
    expectError(await verify(first.body.token), 401, 'SESSION_INVALID');
    expect((await verify(others.body.token)).status).toBe(200);
  });

  test("a machine's login replaces its own session and no other", async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false });
    const user = await newUser(api, app);
    const sessions = [];
    for (const hwid of [user.hwid, newHwid(), newHwid(), newHwid(), newHwid()]) {
      clock.advance(1);
      sessions.push((await api.login(app.with({ ...user, hwid }))).body);
    }
    clock.advance(1);
    const renewed = (await api.login(app.with(user))).body;
    const handles = [
      sessions[0]!.token,
      sessions[0]!.session_id,
      ...sessions.slice(1).map(({ token }) => token),
    ];
    const responses = await Promise.all(
      [...handles, renewed.token].map((token) => api.verify({ app_id: app.app_id, token })),
    );
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 200, 200, 200, 200, 200]);
  });

  test('no longer count once expired', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false, max_sessions: 2 });
    const user = await newUser(api, app);
    await api.login(app.with(user));
    clock.advance(DAY - SECOND);
    const kept = await api.login(app.with({ ...user, hwid: newHwid() }));
    clock.advance(SECOND);
    await api.login(app.with({ ...user, hwid: newHwid() }));
    expect((await api.verify({ app_id: app.app_id, token: kept.body.token })).status).toBe(200);
  });

  test('stay within the limit with concurrent logins', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false, max_sessions: 3 });
    const user = await newUser(api, app);
    const logins = await Promise.all(
      Array.from({ length: 10 }, () => api.login(app.with({ ...user, hwid: newHwid() }))),
    );
    const responses = await Promise.all(
      logins.map(({ body }) => api.verify({ app_id: app.app_id, token: body.token })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
  });
});

describe('require_subscription', () => {
  test('SUBSCRIPTION_EXPIRED without a running one, after password and machine', async () => {
    const app = await newApp(api);
    const [key] = await app.keys(1, 'Pro', 1);
    await app.patch({ require_subscription: true });
    const user = await newUser(api, app);
    expectError(await api.login(app.with({ ...user, password: 'wrong' })), 401, 'INVALID_CREDENTIALS');
    expectError(await api.login(app.with({ ...user, hwid: newHwid() })), 403, 'HWID_MISMATCH');
    expectError(await api.login(app.with(user)), 403, 'SUBSCRIPTION_EXPIRED');
    await api.activate(app.with({ username: user.username, license_key: key! }));
    expect((await api.login(app.with(user))).status).toBe(200);
    clock.advance(DAY - 1);
    expect((await api.login(app.with(user))).status).toBe(200);
    clock.advance(1);
    expectError(await api.login(app.with(user)), 403, 'SUBSCRIPTION_EXPIRED');
  });

  test('is off: an expired subscription does not matter', async () => {
    const app = await newApp(api);
    const [license_key] = await app.keys(1, 'Pro', 1);
    const user = await newUser(api, app, { license_key } as object);
    clock.advance(2 * DAY);
    expect((await api.login(app.with(user))).status).toBe(200);
  });
});

test('a hash with outdated parameters is replaced at the login, and the password stays', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const database = await connectTo(databaseUrl);
  const stored = async () =>
    (
      await database.query<{ password_hash: string }>('select password_hash from users where username = $1', [
        user.username,
      ])
    ).rows[0]!.password_hash;
  const outdated = await hash(user.password, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
  await database.query('update users set password_hash = $1 where username = $2', [outdated, user.username]);
  expectError(await api.login(app.with({ ...user, password: 'wrong' })), 401, 'INVALID_CREDENTIALS');
  expect(await stored()).toBe(outdated);
  expect((await api.login(app.with(user))).status).toBe(200);
  expect(await stored()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect((await api.login(app.with(user))).status).toBe(200);
});

test('VALIDATION_FAILED lists every fault', async () => {
  const login = (body: object) => api.post('/api/v1/client/login', body);
  const members = ['/app_id', '/secret', '/username', '/password', '/hwid'];
  expectFaults(await login({}), ...members);
  expectFaults(await login({ app_id: [], secret: {}, username: 1, password: true, hwid: null }), ...members);
});

test('TOO_MANY_REQUESTS at once when too many passwords are waiting', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  // Each for another user, because failures count separately.
  const { atOnce, later } = await flood(23, () => api.login(app.with({ ...user, username: unique('user') })));
  for (const response of later) expectError(response, 401, 'INVALID_CREDENTIALS');
  for (const response of atOnce) {
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect((await api.login(app.with(user))).status).toBe(200);
});
