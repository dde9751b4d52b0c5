import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { unique } from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';

const { api, baseUrl, clock, databaseUrl } = await startTestService({}, { hashing: 'each' });

const register = (body: object) =>
  api.post<components['schemas']['DeveloperSessionResult']>('/api/v2/dev/register', body);
const login = (body: object) => api.post('/api/v2/dev/login', body);
const apps = (token: string) => api.call('GET', '/api/v2/dev/apps', undefined, { token });
const account = (fields: object = {}) => ({
  email: `${unique('dev')}@example.com`,
  password: 'a developer password',
  ...fields,
});

test('creates an account and signs it in for 24 hours', async () => {
  const { status, body } = await register(account({ name: 'Grace' }));
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    developer_id: expect.stringMatching(/^dev_[0-9a-z]{26}$/),
    token: expect.any(String),
    expiry: inDays(clock, 1),
  });
  // An access token of RFC 9068.
  const [header, claims] = body.token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object);
  expect(header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
  expect(claims).toEqual({
    iss: baseUrl,
    aud: baseUrl,
    sub: body.developer_id,
    client_id: 'latchkey',
    scope: 'read write auth:dev agent:register agent:execute',
    jti: expect.stringMatching(/^[\w-]{22}$/),
    iat: Math.floor(clock.now().getTime() / 1000),
    exp: Math.floor(clock.now().getTime() / 1000) + 86_400,
  });
  expect((await apps(body.token)).body).toEqual({ status: 'success', data: [], next_cursor: null });
  clock.advance(DAY - 1);
  expect((await apps(body.token)).status).toBe(200);
  clock.advance(1);
  const expired = await apps(body.token);
  expectError(expired, 401, 'UNAUTHORIZED');
  expect(expired.headers.get('www-authenticate')).toMatch(/^Bearer /);
});

test('EMAIL_TAKEN regardless of case, and the account does not change', async () => {
  const email = `${unique('Grace')}@Example.com`;
  const first = account({ email });
  expect((await register(first)).status).toBe(201);
  for (const same of [email, email.toLowerCase(), email.toUpperCase()]) {
    expectError(await register(account({ email: same, password: 'another password' })), 409, 'EMAIL_TAKEN');
  }
  expect((await login(first)).status).toBe(200);
  expectError(await login({ email, password: 'another password' }), 401, 'INVALID_CREDENTIALS');
});

test('concurrent registrations of one address create one account', async () => {
  const email = `${unique('dev')}@example.com`;
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_each, index) =>
      register(account({ email: index % 2 ? email : email.toUpperCase() })),
    ),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
});

test('ignores members that a client cannot set, and stores no secret in plain text', async () => {
  const wanted = account({ plan_id: 'unlimited', developer_id: 'dev_1', apps: -100, role: 'admin' });
  const { status, body } = await register(wanted);
  expect(status).toBe(201);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query<{ row: string; plan_id: string; apps: number }>(
    `select d.plan_id, d.apps, d::text || s::text as row
     from developers d join developer_sessions s using (developer_id) where d.developer_id = $1`,
    [body.developer_id],
  );
  expect(rows).toMatchObject([{ plan_id: 'free', apps: 0 }]);
  expect(rows[0]!.row).not.toContain(wanted.password);
  expect(rows[0]!.row).not.toContain(body.token);
});

test('VALIDATION_FAILED lists every fault', async () => {
  expectFaults(await register({}), '/email', '/password');
  expectFaults(await register({ email: 'x', password: 'short', name: '' }), '/email', '/password', '/name');
  for (const email of [
    '',
    'a',
    'a@',
    '@b.c',
    'a b@c.de',
    'a@b.c\u0000',
    'a\n@b.de',
    `${'a'.repeat(250)}@b.de`,
    1,
  ]) {
    expectFaults(await register(account({ email })), '/email');
  }
  for (const name of ['a\u0000', 'a\u202eb', 'n'.repeat(101), 5, null]) {
    expectFaults(await register(account({ name })), '/name');
  }
  for (const password of ['1234567', 'p'.repeat(129)]) {
    expectFaults(await register(account({ password })), '/password');
  }
});

test('TOO_MANY_REQUESTS with Retry-After when too many hashes are waiting', async () => {
  const { atOnce, later } = await flood(13, () => register(account()));
  for (const { status } of later) expect(status).toBe(201);
  for (const response of atOnce) {
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
});
