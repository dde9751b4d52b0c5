import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import {
  ban,
  lift,
  newApp,
  newHwid,
  newNonce,
  newUser,
  signed,
  type App,
  type User,
} from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import {
  everywhere,
  guestsOf,
  callEntryPoint,
  callEveryEntryPoint,
  newGuest,
} from '../support/entry-points.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

const service = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' });
const { api, clock, databaseUrl } = service;

const create = ({ app_id, token }: App, body: object) =>
  api.post<components['schemas']['BanResult']>(`/api/v2/dev/apps/${app_id}/bans`, body, { token });

const inSeconds = (seconds: number) => new Date(clock.now().getTime() + seconds * SECOND).toISOString();

describe('returns the ban', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const result = {
    status: 'success',
    ban_id: expect.stringMatching(/^ban_[0-9a-z]{26}$/),
    user_id: null,
    network: null,
    reason: null,
    expires_at: null,
  };
  const userId = expect.stringMatching(/^usr_/) as string;

  test('of a user, found by every form of the name', async () => {
    const request = { kind: 'user', username: user.username.toUpperCase(), reason: '“Chargeback” 🦊' };
    const { status, body } = await create(app, request);
    expect(status).toBe(201);
    expect(body).toEqual({
      ...result,
      kind: 'user',
      user_id: userId,
      reason: '“Chargeback” 🦊',
      created_at: clock.now().toISOString(),
    });
  });

  test('of a machine, by the machine or by the user who is bound to it', async () => {
    const created_at = clock.now().toISOString();
    const byMachine = await create(app, { kind: 'hardware', hwid: newHwid(), reason: null });
    expect(byMachine.body).toEqual({ ...result, kind: 'hardware', created_at });
    expect(JSON.stringify(byMachine.body)).not.toContain('hwid');
    const byUser = await create(app, { kind: 'hardware', username: user.username });
    expect(byUser.body).toEqual({ ...result, kind: 'hardware', user_id: userId, created_at });
  });

  test.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::1', '2001:db8::1/128'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['::ffff:203.0.113.7', '203.0.113.7/32'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
    ['::/0', '::/0'],
  ])('of the network %s, in CIDR form: %s', async (network, canonical) => {
    const own = await newApp(api);
    const { status, body } = await create(own, { kind: 'network', network, expires_at: inSeconds(1) });
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'network', network: canonical, expires_at: inSeconds(1) });
  });

  test('nothing of a machine is kept in plain text', async () => {
    const hwid = newHwid();
    const { body } = await create(app, { kind: 'hardware', hwid });
    const database = await connectTo(databaseUrl);
    const { rows } = await database.query<{ row: string; digest: Buffer }>(
      'select b::text as row, hwid_digest as digest from bans b where ban_id = $1',
      [body.ban_id],
    );
    expect(rows[0]!.row).not.toContain(hwid);
    expect(rows[0]!.digest).toHaveLength(32);
  });
});

describe('is in force when the response arrives, for every kind of login', () => {
  test('a user', async () => {
    const app = await newApp(api);
    const guests = await guestsOf(service, app);
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(everywhere('ok'));
    for (const { username } of Object.values(guests)) await ban(api, app, { kind: 'user', username });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(
      everywhere('403 USER_BANNED', {
        initApplication: 'ok',
        // No account exists yet.
        registerUser: 'ok',
        verifySession: '401 SESSION_INVALID',
        verifySessionV2: '401 SESSION_INVALID',
      }),
    );
  });

  test('a machine', async () => {
    const app = await newApp(api);
    const guests = await guestsOf(service, app);
    for (const { hwid } of Object.values(guests)) await ban(api, app, { kind: 'hardware', hwid });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(
      everywhere('403 HWID_BANNED', { initApplication: 'ok' }),
    );
  });

  test('the machine of a user', async () => {
    const app = await newApp(api);
    const guests = await guestsOf(service, app);
    for (const { username } of Object.values(guests)) await ban(api, app, { kind: 'hardware', username });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(
      everywhere('403 HWID_BANNED', { initApplication: 'ok' }),
    );
  });

  test('a network', async () => {
    const app = await newApp(api);
    const guests = await guestsOf(service, app);
    await ban(api, app, { kind: 'network', network: '127.0.0.0/8' });
    expect(await callEveryEntryPoint(service, app, guests)).toEqual(
      everywhere('403 ADDRESS_BANNED', { initApplication: 'ok' }),
    );
    expect(await callEveryEntryPoint(service, app, guests, { 'x-forwarded-for': '198.51.100.1' })).toEqual(
      everywhere('ok'),
    );
  });

  test('on another node too', async () => {
    const other = await startTestService({ DATABASE_URL: databaseUrl });
    const app = await newApp(api);
    const guest = await newGuest(service, app);
    expect((await callEntryPoint('verifySession', other, app, guest)).status).toBe(200);
    const banId = await ban(api, app, { kind: 'hardware', hwid: guest.hwid });
    expectError(await callEntryPoint('verifySession', other, app, guest), 403, 'HWID_BANNED');
    expectError(await callEntryPoint('loginUserV2', other, app, guest), 403, 'HWID_BANNED');
    await lift(api, app, banId);
    await ban(api, app, { kind: 'user', username: guest.username });
    expectError(await callEntryPoint('verifySession', other, app, guest), 401, 'SESSION_INVALID');
    expectError(await callEntryPoint('loginUserV2', other, app, guest), 403, 'USER_BANNED');
  });
});

describe('a user ban', () => {
  test('ends every session of the user, and no others', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false });
    const user = await newUser(api, app);
    const [other, elsewhere] = [await newGuest(service, app), await newGuest(service, await newApp(api))];
    const handles: string[] = [];
    for (const hwid of [user.hwid, newHwid(), newHwid()]) {
      const { body } = await api.login(app.with({ ...user, hwid }));
      handles.push(body.token, body.session_id);
    }
    const banId = await ban(api, app, { kind: 'user', username: user.username });
    for (const token of handles) {
      expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
      expectError(await api.logout({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
    }
    expect((await api.verify({ app_id: app.app_id, token: other.encryptedToken })).status).toBe(200);
    expect(elsewhere.userId).not.toBe(other.userId);
    // Sessions that have ended stay ended.
    await lift(api, app, banId);
    for (const token of handles) {
      expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
    }
    expect((await api.login(app.with(user))).status).toBe(200);
  });

  test.each<[string, (app: App, fields: User) => Promise<{ status: number; body: object }>]>([
    ['v1', (app, fields) => api.login(app.with(fields))],
    [
      'v2',
      (app, { username, password, hwid }) => {
        const request = { app_id: app.app_id, username, password, hwid, nonce: newNonce() };
        return api.loginV2(...signed(app, request, { at: clock.now() }));
      },
    ],
  ])('shows at a login of %s only after the password was right', async (_version, login) => {
    const app = await newApp(api);
    const [banned, existing] = [await newUser(api, app), await newUser(api, app)];
    await ban(api, app, { kind: 'user', username: banned.username, reason: 'a reason of our own' });
    const wrong = { password: 'a wrong password' };
    const responses = [
      await login(app, { ...existing, ...wrong }),
      await login(app, { ...banned, ...wrong }),
      await login(app, { ...banned, ...wrong, hwid: newHwid() }),
      await login(app, { ...existing, username: 'unknown' }),
    ] as { status: number; headers: Headers; body: object }[];
    expectError(responses[0]!, 401, 'INVALID_CREDENTIALS');
    for (const response of responses) {
      expect(comparable(response)).toEqual(comparable(responses[0]!));
      expect([...response.headers.keys()]).toEqual([...responses[0]!.headers.keys()]);
    }
    const right = (await login(app, banned)) as { status: number; headers: Headers; body: object };
    expectError(right, 403, 'USER_BANNED');
    expect(JSON.stringify(right.body)).not.toContain('a reason of our own');
  });

  test('takes effect before or after a concurrent login, never in between', async () => {
    const app = await newApp(api);
    await app.patch({ hwid_lock: false, max_sessions: 100 });
    const user = await newUser(api, app);
    const login = () => api.login(app.with({ ...user, hwid: newHwid() }));
    const logins = Array.from({ length: 12 }, login);
    await ban(api, app, { kind: 'user', username: user.username });
    for (const { status, body } of await Promise.all(logins)) {
      expect([200, 403]).toContain(status);
      if (status !== 200) continue;
      expectError(await api.verify({ app_id: app.app_id, token: body.token }), 401, 'SESSION_INVALID');
    }
    expectError(await login(), 403, 'USER_BANNED');
  });

  test('is of one application', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const user = await newUser(api, app);
    await newUser(api, other, user);
    await ban(api, app, { kind: 'user', username: user.username });
    expect((await api.login(other.with(user))).status).toBe(200);
  });

  test('keeps the name taken', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    await ban(api, app, { kind: 'user', username: user.username });
    expectError(await api.register(app.with(user)), 409, 'USERNAME_TAKEN');
  });

  test('does not spend the key of a refused activation', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    const [license_key] = (await app.keys(1)) as [string];
    const banId = await ban(api, app, { kind: 'user', username: user.username });
    const activate = () => api.activate(app.with({ username: user.username, license_key }));
    expectError(await activate(), 403, 'USER_BANNED');
    await lift(api, app, banId);
    expect((await activate()).status).toBe(200);
  });
});

describe('a hardware ban', () => {
  test('is of one application and of one machine', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const user = await newUser(api, app);
    await newUser(api, other, user);
    await ban(api, app, { kind: 'hardware', hwid: user.hwid });
    expectError(await api.login(app.with(user)), 403, 'HWID_BANNED');
    expect((await api.login(other.with(user))).status).toBe(200);
    await app.patch({ hwid_lock: false });
    expect((await api.login(app.with({ ...user, hwid: newHwid() }))).status).toBe(200);
    expectError(await api.login(app.with({ ...user, hwid: user.hwid })), 403, 'HWID_BANNED');
  });

  test('reveals nothing about users: it is the same for any name and password', async () => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    await ban(api, app, { kind: 'hardware', hwid: user.hwid });
    const responses = [
      await api.login(app.with(user)),
      await api.login(app.with({ ...user, password: 'wrong' })),
      await api.login(app.with({ ...user, username: 'unknown' })),
    ];
    for (const response of responses) {
      expectError(response, 403, 'HWID_BANNED');
      expect(comparable(response)).toEqual(comparable(responses[0]!));
    }
  });

  test('leaves sessions alive, which work again when it is lifted', async () => {
    const app = await newApp(api);
    const guest = await newGuest(service, app);
    const banId = await ban(api, app, { kind: 'hardware', username: guest.username });
    expectError(await callEntryPoint('verifySession', service, app, guest), 403, 'HWID_BANNED');
    await lift(api, app, banId);
    expect((await callEntryPoint('verifySession', service, app, guest)).status).toBe(200);
  });

  test('does not keep users from ending a session', async () => {
    const app = await newApp(api);
    const { hwid, encryptedToken } = await newGuest(service, app);
    await ban(api, app, { kind: 'hardware', hwid });
    await ban(api, app, { kind: 'network', network: '127.0.0.1' });
    expect((await api.logout({ app_id: app.app_id, token: encryptedToken })).status).toBe(200);
  });
});

describe('a network ban', () => {
  const from = (address: string) => ({ 'x-forwarded-for': address });

  test.each([
    [
      '203.0.113.0/30',
      ['203.0.113.0', '203.0.113.3', '::ffff:203.0.113.1'],
      ['203.0.113.4', '203.0.112.255'],
    ],
    ['203.0.113.7', ['203.0.113.7'], ['203.0.113.6', '203.0.113.8']],
    [
      '2001:db8:0:1::/64',
      ['2001:db8:0:1::', '2001:0DB8:0:1:ffff:ffff:ffff:ffff'],
      ['2001:db8:0:2::', '2001:db8::'],
    ],
    ['2001:db8::1', ['2001:db8::1'], ['2001:db8::2']],
    ['0.0.0.0/0', ['1.2.3.4', '255.255.255.255'], ['2001:db8::1']],
    ['::/0', ['2001:db8::1', '::1'], ['1.2.3.4', '::ffff:1.2.3.4']],
  ])('of %s', async (network, inside, outside) => {
    const app = await newApp(api);
    const guest = await newGuest(service, app);
    await ban(api, app, { kind: 'network', network });
    for (const address of inside) {
      for (const entryPoint of ['loginUser', 'verifySession'] as const) {
        expectError(
          await callEntryPoint(entryPoint, service, app, guest, from(address)),
          403,
          'ADDRESS_BANNED',
        );
      }
    }
    for (const address of outside) {
      const response = await callEntryPoint('loginUserV2', service, app, guest, from(address));
      expect(response.status, address).toBe(200);
    }
  });

  test('cannot be evaded by untrusted forwarded headers', async () => {
    const open = await startTestService({ DATABASE_URL: databaseUrl });
    const app = await newApp(api);
    const guest = await newGuest(service, app);
    await ban(api, app, { kind: 'network', network: '127.0.0.1' });
    const headers: Record<string, string>[] = [
      from('198.51.100.1'),
      { forwarded: 'for=198.51.100.1' },
      { 'x-real-ip': '198.51.100.1' },
    ];
    for (const header of headers) {
      expectError(await callEntryPoint('loginUser', open, app, guest, header), 403, 'ADDRESS_BANNED');
    }
    // Behind a proxy that is trusted, the last address that is not a proxy's counts.
    await ban(api, app, { kind: 'network', network: '203.0.113.9' });
    const spoofed = await callEntryPoint('loginUser', service, app, guest, from('198.51.100.1, 203.0.113.9'));
    expectError(spoofed, 403, 'ADDRESS_BANNED');
    const forwarded = await callEntryPoint('loginUser', service, app, guest, from('198.51.100.1, 127.0.0.1'));
    expect(forwarded.status).toBe(200);
  });
});

describe('expires_at', () => {
  test.each([
    ['user', ({ username }: User) => ({ kind: 'user' as const, username }), 'USER_BANNED'],
    ['hardware', ({ hwid }: User) => ({ kind: 'hardware' as const, hwid }), 'HWID_BANNED'],
    ['network', () => ({ kind: 'network' as const, network: '127.0.0.1' }), 'ADDRESS_BANNED'],
  ])('ends a %s ban by itself, to the millisecond', async (_kind, target, code) => {
    const app = await newApp(api);
    const user = await newUser(api, app);
    await ban(api, app, { ...target(user), expires_at: inSeconds(600) });
    clock.advance(600 * SECOND - 1);
    expectError(await api.login(app.with(user)), 403, code);
    clock.advance(1);
    const { status, body } = await api.login(app.with(user));
    expect(status).toBe(200);
    expect((await api.verify({ app_id: app.app_id, token: body.token })).status).toBe(200);
  });

  test('of one ban leaves another one in force', async () => {
    const app = await newApp(api);
    const { username, ...user } = await newUser(api, app);
    await ban(api, app, { kind: 'user', username });
    await ban(api, app, { kind: 'user', username, expires_at: inSeconds(1) });
    clock.advance(2 * SECOND);
    expectError(await api.login(app.with({ username, ...user })), 403, 'USER_BANNED');
  });

  test('may be null, and must be in the future', async () => {
    const app = await newApp(api);
    const network = { kind: 'network', network: '203.0.113.1' };
    expect((await create(app, { ...network, expires_at: null })).status).toBe(201);
    expect((await create(app, { ...network, expires_at: '9999-12-31T23:59:59.999Z' })).status).toBe(201);
    for (const expires_at of [
      inSeconds(0),
      '0000-01-01T00:00:00Z',
      '2026-11-21',
      'soon',
      '+010000-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999-23:00',
      1795257814000,
    ]) {
      expectFaults(await create(app, { ...network, expires_at }), '/expires_at');
    }
  });
});

describe('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  const { username } = await newUser(api, app);

  test.each<[object, string]>([
    [{}, '/kind'],
    [{ kind: 'robot' }, '/kind'],
    [{ kind: 'user' }, '/username'],
    [{ kind: 'user', hwid: 'a machine' }, '/hwid'],
    [{ kind: 'user', username, network: '203.0.113.1' }, '/network'],
    [{ kind: 'hardware' }, '/hwid'],
    [{ kind: 'hardware', hwid: 'a machine', username }, '/hwid'],
    [{ kind: 'hardware', hwid: 'a machine', network: '203.0.113.1' }, '/network'],
    [{ kind: 'network' }, '/network'],
    [{ kind: 'network', network: '203.0.113.1', username }, '/username'],
    [{ kind: 'network', network: '203.0.113.1', hwid: 'a machine' }, '/hwid'],
    [{ kind: 'network', network: '203.0.113.1', reason: 'r'.repeat(501) }, '/reason'],
    [{ kind: 'network', network: '203.0.113.1', reason: 'a\u0000b' }, '/reason'],
    [{ kind: 'user', username: 'a\u0000b' }, '/username'],
    [{ kind: 'user', username: 'a\u00adb' }, '/username'],
    [{ kind: 'hardware', hwid: '' }, '/hwid'],
    [{ kind: 'user', username: null }, '/username'],
  ])('%j', async (body, pointer) => {
    expectFaults(await create(app, body), pointer);
  });

  test.each([
    '',
    '1',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '0203.0.113.1',
    '203.0.113.1/33',
    '203.0.113.1/24',
    '203.0.113.0/024',
    '203.0.113.0/ 24',
    '203.0.113.0/24/24',
    '203.0.113.0/',
    ' 203.0.113.1',
    '203.0.113.1\u0000',
    '2001:db8::/129',
    '2001:db8::1/32',
    '2001:db8::1%eth0',
    '[2001:db8::1]',
    '::ffff:203.0.113.0/95',
    'fe80::%1/10',
    '203.0.113.0-203.0.113.9',
  ])('network %j', async (network) => {
    expectFaults(await create(app, { kind: 'network', network }), '/network');
  });

  test('the machine of a user who is bound to none', async () => {
    const own = await newApp(api);
    const user = await newUser(api, own);
    const database = await connectTo(databaseUrl);
    await database.query('update users set hwid_digest = null where username = $1', [user.username]);
    expectFaults(await create(own, { kind: 'hardware', username: user.username }), '/username');
  });
});

test('USER_NOT_FOUND for a name that the application does not have, also one of another application', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { username } = await newUser(api, other);
  for (const kind of ['user', 'hardware']) {
    const foreign = await create(app, { kind, username });
    expectError(foreign, 404, 'USER_NOT_FOUND');
    expect(comparable(await create(app, { kind, username: 'unknown' }))).toEqual(comparable(foreign));
  }
});

test('APPLICATION_NOT_FOUND for another developer’s, in which nothing changes', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const user = await newUser(api, app);
  const foreign = await create({ ...app, token: other.token }, { kind: 'user', username: user.username });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect((await api.login(app.with(user))).status).toBe(200);
});

test('a refused ban has no effect', async () => {
  const app = await newApp(api);
  await create(app, { kind: 'user', username: 'unknown' });
  await create(app, { kind: 'network', network: 'nowhere' });
  const { body } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/bans`, undefined, app);
  expect(body['data']).toEqual([]);
});
