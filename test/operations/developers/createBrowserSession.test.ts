import { beforeEach, describe, expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { cookieOf, newBrowserSession, SAME_ORIGIN, signIn } from '../../support/browser-session.ts';
import { DAY } from '../../support/clock.ts';
import { newApp, newDeveloper, type App, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { newReseller, type TestReseller } from '../support/resellers.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const HOUR = 3_600_000;
const { api, clock, database, services } = await startTestService({}, { hashing: 'each' });

let developer: Developer;
let app: App;
let reseller: TestReseller;
// Tests advance the clock by more than a session lasts.
beforeEach(async () => {
  developer = await newDeveloper(api);
  app = await newApp(api, developer);
  reseller = await newReseller(api, app);
});

const inHours = (hours: number) => new Date(clock.now().getTime() + hours * HOUR).toISOString();
const read = (cookie: string, path: string) =>
  api.call('GET', path, undefined, { headers: { ...SAME_ORIGIN, cookie } });

test('signs a developer in for 24 hours with an HttpOnly cookie', async () => {
  const { email, password } = developer;
  const response = await signIn(api, { email, password });
  expect(response.status).toBe(201);
  expect(response.body).toEqual({
    status: 'success',
    kind: 'developer',
    developer_id: developer.developerId,
    reseller_id: null,
    expiry: inHours(24),
  });
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^latchkey_session=lkb_[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  const cookie = cookieOf(response);
  expect((await read(cookie, '/api/v2/dev/me')).body['developer_id']).toBe(developer.developerId);
  expectError(await read(cookie, '/api/v2/dev/reseller'), 401, 'UNAUTHORIZED');
  expectError(await read(cookie, '/api/v2/admin/plans'), 401, 'UNAUTHORIZED');
  const [entry] = await auditLog(api, developer, '&action=developer.logged_in');
  expect(entry).toMatchObject({ actor: { kind: 'developer', id: developer.developerId } });
  clock.advance(DAY);
  expectError(await read(cookie, '/api/v2/dev/me'), 401, 'UNAUTHORIZED');
});

test('signs a reseller in for 8 hours', async () => {
  const response = await signIn(api, { token: reseller.token });
  expect(response.body).toMatchObject({
    kind: 'reseller',
    developer_id: developer.developerId,
    reseller_id: reseller.reseller_id,
    expiry: inHours(8),
  });
  const cookie = cookieOf(response);
  expect((await read(cookie, '/api/v2/dev/reseller')).status).toBe(200);
  expectError(await read(cookie, '/api/v2/dev/me'), 401, 'UNAUTHORIZED');
  clock.advance(8 * HOUR);
  expectError(await read(cookie, '/api/v2/dev/reseller'), 401, 'UNAUTHORIZED');
  clock.advance(1);
  expect(await services.browserSessions.clearExpired()).toBeGreaterThan(0);
});

test('signs the administrator in for 8 hours', async () => {
  const response = await signIn(api, ADMINISTRATOR);
  expect(response.body).toMatchObject({
    kind: 'administrator',
    developer_id: null,
    reseller_id: null,
    expiry: inHours(8),
  });
  const cookie = cookieOf(response);
  expect((await read(cookie, '/api/v2/admin/plans')).status).toBe(200);
  const { body } = await read(cookie, '/api/v2/admin/audit-log?action=administrator.signed_in');
  expect(body['data']).toMatchObject([
    { actor: { kind: 'administrator' }, action: 'administrator.signed_in' },
  ]);
  clock.advance(8 * HOUR);
  expectError(await read(cookie, '/api/v2/admin/plans'), 401, 'UNAUTHORIZED');
});

test('ends the session whose cookie the new one replaces, of any kind, and no other', async () => {
  const { email, password } = developer;
  const kept = await newBrowserSession(api, developer);
  const kinds = [
    [{ email, password }, '/api/v2/dev/me'],
    [{ token: reseller.token }, '/api/v2/dev/reseller'],
  ] as const;
  for (const [credentials, path] of kinds) {
    const before = cookieOf(await signIn(api, credentials));
    const refused = await signIn(
      api,
      { email, password: `${password}!` },
      { ...SAME_ORIGIN, cookie: before },
    );
    expectError(refused, 401, 'INVALID_CREDENTIALS');
    expect((await read(before, path)).status).toBe(200);
    const after = await signIn(api, { email, password }, { ...SAME_ORIGIN, cookie: before });
    expectError(await read(before, path), 401, 'UNAUTHORIZED');
    expect((await read(cookieOf(after), '/api/v2/dev/me')).status).toBe(200);
  }
  expect((await api.call('GET', '/api/v2/dev/me', undefined, kept)).status).toBe(200);
});

describe('the session of a reseller ends', () => {
  test('with its token', async () => {
    const { headers } = await newBrowserSession(api, { token: reseller.token });
    const { body } = await api.call('GET', `${reseller.path}/tokens`, undefined, { token: app.token });
    const [{ token_id }] = body['data'] as [{ token_id: string }];
    await api.call('DELETE', `${reseller.path}/tokens/${token_id}`, undefined, { token: app.token });
    expectError(await read(headers['cookie']!, '/api/v2/dev/reseller'), 401, 'UNAUTHORIZED');
    expectError(await signIn(api, { token: reseller.token }), 401, 'INVALID_CREDENTIALS');
    const { rows } = await database.knex.raw<{ rows: object[] }>(
      'select from browser_sessions where api_token_id = ?',
      [token_id],
    );
    expect(rows).toEqual([]);
  });

  test('no later than its token', async () => {
    const other = await newReseller(api, app);
    const { body } = await api.post<{ token: string }>(
      `${other.path}/tokens`,
      { name: 'Shop', scopes: ['read'], expires_at: inHours(1) },
      { token: app.token },
    );
    expect((await signIn(api, { token: body.token })).body.expiry).toBe(inHours(1));
  });

  test('with the reseller', async () => {
    const other = await newReseller(api, app);
    const { headers } = await newBrowserSession(api, { token: other.token });
    await api.call('DELETE', other.path, undefined, { token: app.token });
    expectError(await read(headers['cookie']!, '/api/v2/dev/reseller'), 401, 'UNAUTHORIZED');
  });
});

test('INVALID_CREDENTIALS is the same for all wrong credentials', async () => {
  const { email, password } = developer;
  const apiToken = await newApiToken(api, developer, ['read']);
  const wrong = await signIn(api, { email, password: `${password}!` });
  expectError(wrong, 401, 'INVALID_CREDENTIALS');
  const others = [
    { email: 'unknown@example.com', password },
    { token: `lkr_${'x'.repeat(43)}` },
    { token: 'nonsense' },
    // Developers sign in with their password.
    { token: apiToken.token },
    { token: developer.token },
    { token: ADMINISTRATOR.token.slice(0, -1) },
  ];
  for (const credentials of others) {
    const response = await signIn(api, credentials);
    expect(comparable(response)).toEqual(comparable(wrong));
    expect(response.headers.getSetCookie()).toEqual([]);
  }
});

test('VALIDATION_FAILED names what is missing and what is too much', async () => {
  const { email, password } = developer;
  expectFaults(await signIn(api, {}), '/email');
  expectFaults(await signIn(api, { email }), '/password');
  expectFaults(await signIn(api, { email, password, token: reseller.token }), '/token');
  expectFaults(await signIn(api, { token: reseller.token, password }), '/password');
  expectFaults(await signIn(api, { token: '' }), '/token');
});

test('the cookie is bound to the host, and sent over HTTPS only, if WEB_URL is an https URL', async () => {
  const secure = await startTestService({ WEB_URL: 'https://latchkey.example.com/app' });
  const { email, password } = await newDeveloper(secure.api);
  const response = await signIn(secure.api, { email, password });
  const [set] = response.headers.getSetCookie();
  expect(set).toMatch(
    /^__Host-latchkey_session=lkb_[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict; Secure$/,
  );
  const cookie = cookieOf(response);
  const me = (sent: string) =>
    secure.api.call('GET', '/api/v2/dev/me', undefined, { headers: { ...SAME_ORIGIN, cookie: sent } });
  expect((await me(cookie)).status).toBe(200);
  // Another page of the same site could set a cookie without the prefix.
  expectError(await me(cookie.replace('__Host-', '')), 401, 'UNAUTHORIZED');
  // Browsers apply the rules of the prefix to names that begin with it, and this one does not.
  expectError(await me(`\u00a0${cookie}`), 401, 'UNAUTHORIZED');
  expect((await me(`\u00a0${cookie}; ${cookie}`)).status).toBe(200);
});

test('concurrent revocation of the token leaves no session', async () => {
  const other = await newReseller(api, app);
  const { body } = await api.call('GET', `${other.path}/tokens`, undefined, { token: app.token });
  const [{ token_id }] = body['data'] as [{ token_id: string }];
  const [signedIn] = await Promise.all([
    signIn(api, { token: other.token }),
    api.call('DELETE', `${other.path}/tokens/${token_id}`, undefined, { token: app.token }),
  ]);
  expect([201, 401]).toContain(signedIn.status);
  const { rows } = await database.knex.raw<{ rows: object[] }>(
    'select from browser_sessions where api_token_id = ?',
    [token_id],
  );
  expect(rows).toEqual([]);
});
