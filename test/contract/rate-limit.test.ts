import { SAME_ORIGIN } from '../support/browser-session.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LEGACY_ERROR_JSON } from '../../src/http/transport/problem.ts';
import type { ApiResponse } from '../support/api.ts';
import {
  newApp,
  newHwid,
  newNonce,
  newSession,
  newUser,
  signed,
  unique,
  type App,
} from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { operations } from './operations.ts';
import { examplePath } from './parameters.ts';

// Requests arrive through a proxy, so that every test can use its own addresses.
const generous = await startTestService();
const { databaseUrl } = generous;
const limited = await startTestService({
  DATABASE_URL: databaseUrl,
  RATE_LIMIT: '3/60',
  TRUSTED_PROXIES: '127.0.0.1',
});
const behind = await startTestService({ DATABASE_URL: databaseUrl, TRUSTED_PROXIES: '127.0.0.1' });
const app = await newApp(generous.api);
const other = await newApp(generous.api);

let hosts = 0;
const newAddress = () => `198.51.100.${(hosts += 1)}`;

// The clock of this process measures the windows and stands still until a test advances it. It starts at the present
// time, because housekeeping deletes windows by the clock of the database.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());
const wait = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

const limitsOf = ({ headers }: ApiResponse<object>) =>
  ['limit', 'remaining', 'reset', 'policy'].map((name) => headers.get(`ratelimit-${name}`));

/** The tests send invalid requests, which count like valid ones. */
const limitedOperations = operations.filter(({ rateLimit }) => rateLimit !== undefined);
const others = operations.filter(({ rateLimit }) => rateLimit === undefined);

function send(
  path: string,
  address: string,
  body: object | string = { app_id: app.app_id },
  headers: Record<string, string> = {},
  { api } = limited,
): Promise<ApiResponse<{ code?: string; detail?: string; error?: string }>> {
  return api.post(path, body, { headers: { 'x-forwarded-for': address, ...SAME_ORIGIN, ...headers } });
}

test('operations that take credentials and the sandbox are rate limited', () => {
  expect(limitedOperations.map(({ operationId }) => operationId)).toEqual([
    'loginUserV2',
    'loginWithLicense',
    'resetHwid',
    'registerDevice',
    'registerUserV2',
    'loginWithPassword',
    'activateLicenseV2',
    'refreshSession',
    'registerUser',
    'loginUser',
    'authenticateSandbox',
    'verifySandboxSession',
    'registerAgent',
    'claimAgent',
    'revokeAgent',
    'registerDeveloper',
    'loginDeveloper',
    'createBrowserSession',
    'requestPasswordReset',
    'resetDeveloperPassword',
  ]);
});

describe.each(limitedOperations.map((operation) => [operation.operationId, operation] as const))(
  '%s',
  (_operationId, { path }) => {
    test('counts requests in headers, and refuses the fourth until the window ends', async () => {
      const address = newAddress();
      const responses = [];
      for (let request = 0; request < 3; request += 1) {
        responses.push(await send(path, address));
        wait(10_000);
      }
      expect(responses.map(limitsOf)).toEqual([
        ['3', '2', '60', '3;w=60'],
        ['3', '1', '50', '3;w=60'],
        ['3', '0', '40', '3;w=60'],
      ]);
      for (const { status } of responses) expect([400, 401]).toContain(status);

      for (let request = 0; request < 3; request += 1) {
        const refused = await send(path, address);
        expect(refused.status).toBe(429);
        expect(refused.body).toMatchObject({
          status: 429,
          code: 'TOO_MANY_REQUESTS',
          detail: 'The address has sent more than 3 requests within 60 seconds.',
        });
        expect(limitsOf(refused)).toEqual(['3', '0', '30', '3;w=60']);
        expect(refused.headers.get('retry-after')).toBe('30');
      }
      const legacy = await send(path, address, undefined, { accept: LEGACY_ERROR_JSON });
      expect(legacy.status).toBe(429);
      expect(legacy.body).toMatchObject({ status: 'fail', error: 'TOO_MANY_REQUESTS', code: 429 });
      expect(legacy.headers.get('retry-after')).toBe('30');

      wait(29_999);
      const last = await send(path, address);
      expect(last.status).toBe(429);
      expect(last.headers.get('retry-after')).toBe('1');
      // The first request after the window starts a new one.
      wait(2);
      const next = await send(path, address);
      expect([400, 401]).toContain(next.status);
      expect(limitsOf(next)).toEqual(['3', '2', '60', '3;w=60']);
    });
  },
);

test.each(others.map((operation) => [operation.operationId, operation] as const))(
  '%s does not count and is not refused',
  async (_operationId, { method, path, requestBody }) => {
    const address = newAddress();
    for (let request = 0; request < 3; request += 1) await send('/api/v1/client/login', address);
    expect((await send('/api/v1/client/login', address)).status).toBe(429);
    for (let request = 0; request < 5; request += 1) {
      const body = requestBody && { app_id: app.app_id };
      const response = await limited.api.call(method, examplePath(path), body, {
        headers: {
          'x-forwarded-for': address,
          ...(requestBody && { 'content-type': requestBody.mediaType }),
        },
      });
      expect(response.status).not.toBe(429);
      expect(limitsOf(response)).toEqual([null, null, null, null]);
      expect(response.headers.get('retry-after')).toBeNull();
    }
  },
);

describe('one count includes', () => {
  const login = (address: string, body?: object, service = limited) =>
    send('/api/v1/client/login', address, body, {}, service);
  const remaining = (response: ApiResponse<object>) => Number(response.headers.get('ratelimit-remaining'));

  test('the operations of one application', async () => {
    const address = newAddress();
    expect(remaining(await login(address))).toBe(2);
    expect(remaining(await send('/api/v2/client/login', address))).toBe(1);
    expect(remaining(await send('/api/v1/client/register', address))).toBe(0);
    expect((await send('/api/v2/client/login-license', address)).status).toBe(429);
  });

  test('successes and failures', async () => {
    const address = newAddress();
    const user = await newUser(generous.api, app);
    const responses = [
      await login(address, app.with(user)),
      await login(address, app.with({ ...user, password: 'wrong' })),
      await login(address, {
        ...user,
        app_id: app.app_id,
        secret: 'wrong',
      }),
      await login(address, app.with(user)),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 401, 401, 429]);
    expect(responses.map(remaining)).toEqual([2, 1, 0, 0]);
  });

  test('one application only, not others', async () => {
    const address = newAddress();
    for (let request = 0; request < 4; request += 1) await login(address);
    expect((await login(address)).status).toBe(429);
    expect(remaining(await login(address, { app_id: other.app_id }))).toBe(2);
  });

  test('one address only, not others', async () => {
    const [first, second] = [newAddress(), newAddress()];
    for (let request = 0; request < 4; request += 1) await login(first);
    expect((await login(first)).status).toBe(429);
    expect(remaining(await login(second))).toBe(2);
  });

  test('all requests without an application', async () => {
    const address = newAddress();
    const responses = [];
    for (const body of [{}, { app_id: 7 }, { app_id: null }, {}]) responses.push(await login(address, body));
    expect(responses.map(({ status }) => status === 429)).toEqual([false, false, false, true]);
    expect(remaining(await login(address, { app_id: 'app_x' }))).toBe(2);
    expect(remaining(await login(address, { app_id: 'app_y' }))).toBe(2);
    expect(remaining(await login(address))).toBe(2);
  });

  test('requests of developers or of the sandbox, separately', async () => {
    const address = newAddress();
    expect(remaining(await send('/api/v2/dev/login', address, {}))).toBe(2);
    expect(remaining(await send('/api/v2/dev/register', address, {}))).toBe(1);
    expect(remaining(await send('/api/v1/sandbox/auth', address, {}))).toBe(2);
    expect(remaining(await send('/api/v1/sandbox/verify-session', address))).toBe(1);
    expect(remaining(await login(address, { app_id: 'developers' }))).toBe(2);
  });

  test('no other kind with the name of an app_id', async () => {
    const address = newAddress();
    for (const app_id of ['sandbox', 'developers', 'application', 'requests']) {
      expect(remaining(await login(address, { app_id }))).toBe(2);
    }
    expect(remaining(await send('/api/v1/sandbox/auth', address, {}))).toBe(2);
  });

  test('the addresses of an IPv6 /64, in every notation', async () => {
    const addresses = [
      '2001:db8:1:1::1',
      '2001:DB8:0001:1:ffff:ffff:ffff:ffff',
      '2001:db8:1:1:0:0:0:0',
      '2001:db8:1:1::abcd',
    ];
    const statuses = [];
    for (const address of addresses) statuses.push((await login(address)).status);
    expect(statuses).toEqual([400, 400, 400, 429]);
    expect(remaining(await login('2001:db8:1:2::1'))).toBe(2);
    expect(remaining(await login('2001:db8:1::1'))).toBe(2);
  });

  test('an IPv4 address and its IPv4-mapped IPv6 address', async () => {
    const address = newAddress();
    expect(remaining(await login(address))).toBe(2);
    expect(remaining(await login(`::ffff:${address}`))).toBe(1);
    expect(remaining(await login(`::FFFF:${address}`))).toBe(0);
    // All IPv4-mapped addresses are in one /64.
    expect(remaining(await login(newAddress()))).toBe(2);
  });

  test('the requests to all nodes', async () => {
    const second = await startTestService({
      DATABASE_URL: databaseUrl,
      RATE_LIMIT: '3/60',
      TRUSTED_PROXIES: '127.0.0.1',
    });
    const address = newAddress();
    expect(remaining(await login(address))).toBe(2);
    expect(remaining(await login(address, undefined, second))).toBe(1);
    expect(remaining(await login(address))).toBe(0);
    expect((await login(address, undefined, second)).status).toBe(429);
    expect((await login(address)).status).toBe(429);
    wait(60_001);
    expect(remaining(await login(address, undefined, second))).toBe(2);
    expect(remaining(await login(address))).toBe(1);
  });

  test('concurrent requests, exactly', async () => {
    const address = newAddress();
    const responses = await Promise.all(Array.from({ length: 20 }, () => login(address)));
    expect(responses.filter(({ status }) => status !== 429)).toHaveLength(3);
    expect(responses.map(remaining).sort()).toEqual([...Array<number>(18).fill(0), 1, 2]);
  });
});

describe('the client’s address', () => {
  test('is the socket’s if no proxy is trusted', async () => {
    const plain = await startTestService({ DATABASE_URL: databaseUrl, RATE_LIMIT: '3/60' });
    const own = await newApp(generous.api);
    const statuses = [];
    for (let request = 0; request < 4; request += 1) {
      const forged = { forwarded: `for=${newAddress()}`, 'x-real-ip': newAddress() };
      const body = { app_id: own.app_id };
      const { status } = await send('/api/v1/client/login', newAddress(), body, forged, plain);
      statuses.push(status);
    }
    expect(statuses).toEqual([400, 400, 400, 429]);
  });

  test('is the one that the nearest trusted proxy added, regardless of what the client sent', async () => {
    const address = newAddress();
    const statuses = [];
    for (let request = 0; request < 4; request += 1) {
      statuses.push((await send('/api/v1/client/login', `${newAddress()}, ${address}`)).status);
    }
    expect(statuses).toEqual([400, 400, 400, 429]);
  });

  test('is the proxy’s own if it forwards nonsense', async () => {
    const own = await newApp(generous.api);
    const statuses = [];
    for (const nonsense of ['nonsense', 'unknown', '', '_hidden', '999.1.1.1']) {
      statuses.push((await send('/api/v1/client/login', nonsense, { app_id: own.app_id })).status);
    }
    expect(statuses).toEqual([400, 400, 400, 429, 429]);
  });
});

describe('a malformed request', () => {
  test('is not counted', async () => {
    const address = newAddress();
    for (let request = 0; request < 5; request += 1) {
      const broken = await send('/api/v1/client/login', address, '{');
      expect(broken.body).toMatchObject({ status: 400, code: 'MALFORMED_JSON' });
    }
  });
});

test('the limit is 100 in 60 seconds by default', async () => {
  const standard = await startTestService({ DATABASE_URL: databaseUrl, RATE_LIMIT: '' });
  const own = await newApp(generous.api);
  const response = await send('/api/v1/client/login', '', { app_id: own.app_id }, {}, standard);
  expect(limitsOf(response)).toEqual(['100', '99', '60', '100;w=60']);
});

test('the alternative preset is 30 in 30 seconds', async () => {
  const preset = await startTestService({ DATABASE_URL: databaseUrl, RATE_LIMIT: '30/30' });
  const own = await newApp(generous.api);
  const response = await send('/api/v1/client/login', '', { app_id: own.app_id }, {}, preset);
  expect(limitsOf(response)).toEqual(['30', '29', '30', '30;w=30']);
});

describe('failures of one username', () => {
  const FAILURES = 10;
  const wrong = { password: 'a wrong password' };

  /** A v1 or v2 login from an address. */
  function attempt(
    version: 'v1' | 'v2',
    own: App,
    fields: { username: string; password: string; hwid: string },
    address: string,
  ): Promise<ApiResponse<{ code?: string; detail?: string }>> {
    const headers = { 'x-forwarded-for': address };
    if (version === 'v1') return behind.api.post('/api/v1/client/login', own.with(fields), { headers });
    const { username, password, hwid } = fields;
    const body = { app_id: own.app_id, username, password, hwid, nonce: newNonce() };
    const [text, signature] = signed(own, body, { at: behind.clock.now() });
    return behind.api.post('/api/v2/client/login', text, { headers: { ...headers, ...signature } });
  }
  test.each(['v1', 'v2'] as const)('are 10 a minute: %s', async (version) => {
    const own = await newApp(generous.api);
    const user = await newUser(generous.api, own);
    const address = newAddress();
    for (let failure = 0; failure < FAILURES; failure += 1) {
      expect((await attempt(version, own, { ...user, ...wrong }, address)).body.code).toBe(
        'INVALID_CREDENTIALS',
      );
    }
    wait(20_000);
    // Now the right password does not help either, in both versions.
    for (const again of ['v1', 'v2'] as const) {
      for (const fields of [user, { ...user, ...wrong }]) {
        const refused = await attempt(again, own, fields, address);
        expect(refused.status).toBe(429);
        expect(refused.body).toMatchObject({
          code: 'TOO_MANY_REQUESTS',
          detail: '10 attempts have failed within 60 seconds.',
        });
        expect(refused.headers.get('retry-after')).toBe('40');
      }
    }
    wait(40_001);
    expect((await attempt(version, own, user, address)).status).toBe(200);
  });

  test('are the same for an unknown username', async () => {
    const own = await newApp(generous.api);
    const signedOut = { username: unique('unknown'), password: 'a password', hwid: newHwid() };
    const address = newAddress();
    const statuses = [];
    for (let failure = 0; failure < FAILURES + 2; failure += 1) {
      statuses.push((await attempt('v1', own, signedOut, address)).status);
    }
    expect(statuses).toEqual([...Array<number>(FAILURES).fill(401), 429, 429]);
  });

  test('count for every form of the username', async () => {
    const own = await newApp(generous.api);
    const { username, hwid } = await newUser(generous.api, own);
    const address = newAddress();
    const forms = [username, username.toUpperCase(), ` ${username} `, username.replace('u', 'ｕ')];
    for (let failure = 0; failure < FAILURES; failure += 1) {
      const form = forms[failure % forms.length]!;
      await attempt('v1', own, { username: form, hwid, ...wrong }, address);
    }
    expect((await attempt('v1', own, { username, hwid, ...wrong }, address)).status).toBe(429);
  });

  test('of another client do not lock the user out, from the same or another address', async () => {
    const own = await newApp(generous.api);
    const user = await newUser(generous.api, own);
    const [attacker, home] = [newAddress(), newAddress()];
    for (let failure = 0; failure < FAILURES + 2; failure += 1) {
      await attempt('v1', own, { ...user, ...wrong, hwid: newHwid() }, attacker);
    }
    expect((await attempt('v1', own, { ...user, hwid: newHwid() }, attacker)).status).toBe(429);
    expect((await attempt('v1', own, user, home)).status).toBe(200);
    expect((await attempt('v1', own, user, attacker)).status).toBe(200);
  });

  test("with the user's hwid from another address do not lock the user out", async () => {
    const own = await newApp(generous.api);
    const user = await newUser(generous.api, own);
    const stranger = newAddress();
    for (let failure = 0; failure < FAILURES + 2; failure += 1) {
      await attempt('v1', own, { ...user, ...wrong }, stranger);
    }
    expect((await attempt('v2', own, user, stranger)).status).toBe(429);
    expect((await attempt('v2', own, user, newAddress())).status).toBe(200);
  });

  test('count for one user of one application', async () => {
    const [first, second] = [await newApp(generous.api), await newApp(generous.api)];
    const user = await newUser(generous.api, first);
    await newUser(generous.api, second, user);
    const neighbor = await newUser(generous.api, first);
    const address = newAddress();
    for (let failure = 0; failure < FAILURES; failure += 1) {
      await attempt('v1', first, { ...user, ...wrong }, address);
    }
    expect((await attempt('v1', first, user, address)).status).toBe(429);
    expect((await attempt('v1', first, neighbor, address)).status).toBe(200);
    expect((await attempt('v1', second, user, address)).status).toBe(200);
  });

  test('for other reasons than the password do not count', async () => {
    const own = await newApp(generous.api);
    const user = await newUser(generous.api, own);
    const address = newAddress();
    for (let request = 0; request < FAILURES + 2; request += 1) {
      const elsewhere = await attempt('v1', own, { ...user, hwid: newHwid() }, address);
      expect(elsewhere.body.code).toBe('HWID_MISMATCH');
    }
    expect((await attempt('v1', own, user, address)).status).toBe(200);
  });

  test('do not end sessions', async () => {
    const own = await newApp(generous.api);
    const session = await newSession(generous.api, own);
    const address = newAddress();
    for (let failure = 0; failure < FAILURES + 2; failure += 1) {
      await attempt('v1', own, { ...session.owner, ...wrong }, address);
    }
    const { status } = await generous.api.verify({ app_id: own.app_id, token: session.token });
    expect(status).toBe(200);
  });

  test('of a developer are 10 a minute from one address', async () => {
    const email = `${unique('dev')}@example.com`;
    const password = 'a developer password';
    const [attacker, home] = [newAddress(), newAddress()];
    const login = (secret: string, address: string, name = email) =>
      behind.api.post<{ code?: string }>(
        '/api/v2/dev/login',
        { email: name, password: secret },
        { headers: { 'x-forwarded-for': address } },
      );
    await generous.api.post('/api/v2/dev/register', { email, password });
    const statuses = [];
    for (let failure = 0; failure < FAILURES; failure += 1) {
      statuses.push((await login('wrong', attacker, failure % 2 ? email.toUpperCase() : email)).status);
    }
    expect(statuses).toEqual(Array<number>(FAILURES).fill(401));
    expect((await login(password, attacker)).status).toBe(429);
    expect((await login(password, home)).status).toBe(200);
    wait(60_001);
    expect((await login(password, attacker)).status).toBe(200);
  });
});

test('only windows that have ended are deleted', async () => {
  const [ended, open] = [newAddress(), newAddress()];
  const remaining = async (address: string) =>
    Number((await send('/api/v1/client/login', address)).headers.get('ratelimit-remaining'));
  expect(await remaining(open)).toBe(2);
  wait(-600_000);
  expect(await remaining(ended)).toBe(2);
  expect(await limited.services.limits.clearExpired()).toBeGreaterThanOrEqual(1);
  expect(await limited.services.limits.clearExpired()).toBe(0);
  expect(await remaining(ended)).toBe(2);
  wait(600_000);
  expect(await remaining(open)).toBe(1);
});
