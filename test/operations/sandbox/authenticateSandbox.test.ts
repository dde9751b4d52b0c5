import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newHwid, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, clock, baseUrl, databaseUrl } = await startTestService();

const request = () => ({ app_id: 'sandbox', username: 'agent', hwid: newHwid() });
const inAnHour = () => new Date(clock.now().getTime() + 3600 * SECOND).toISOString();

test('returns a session of one hour and its permissions, for any app_id and username', async () => {
  for (const fields of [request(), { ...request(), app_id: 'app_x', username: 'Ünïcode 🦊' }]) {
    const { status, body } = await api.sandbox(fields);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      sandbox: true,
      token: expect.any(String),
      expires_at: inAnHour(),
      entitlements: {
        plan: 'free_developer',
        features: ['hwid_lock', 'unlimited_logins', 'instant_reseller'],
      },
      scopes: ['auth:client'],
      claim_url: `${baseUrl}/api/v1/agent/claim`,
      post_claim_scopes: ['read', 'write', 'auth:client', 'agent:execute'],
    });
  }
});

test('the token is a JWS of a separate type, without the machine in plain text', async () => {
  const fields = request();
  const { token } = (await api.sandbox(fields)).body;
  const [header, claims] = token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object);
  expect(header).toEqual({ alg: 'EdDSA', typ: 'sandbox+jwt', kid: expect.any(String) });
  const seconds = Math.floor(clock.now().getTime() / SECOND);
  expect(claims).toEqual({
    iss: baseUrl,
    aud: fields.app_id,
    jti: expect.stringMatching(/^[\w-]{22}$/),
    sub: fields.username,
    machine: expect.any(String),
    iat: seconds,
    exp: seconds + 3600,
  });
  expect(token).not.toContain(fields.hwid);
  expect(JSON.stringify(claims)).not.toContain(fields.hwid);
});

test('reads and stores nothing', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const database = await connectTo(databaseUrl);
  const count = async () => {
    const { rows } = await database.query<{ counts: string }>(
      `select (select count(*) from users) || ' ' || (select count(*) from sessions) as counts`,
    );
    return rows[0]!.counts;
  };
  const before = await count();
  const fields = { app_id: app.app_id, username: user.username, hwid: user.hwid };
  expect((await api.sandbox(fields)).status).toBe(200);
  // It does not reveal whether the application or user exist, or are banned, paused or disabled.
  await app.patch({ status: 'disabled' });
  expect((await api.sandbox(fields)).status).toBe(200);
  expect(await count()).toBe(before);
});

test('its token is not valid for anything else', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const fields = { app_id: app.app_id, username: user.username, hwid: user.hwid };
  const { token } = (await api.sandbox(fields)).body;
  const { app_id } = app;
  expectError(await api.verify({ app_id, token }), 401, 'SESSION_INVALID');
  expectError(await api.verifyV2({ app_id, token }), 401, 'SESSION_INVALID');
  expectError(await api.logout({ app_id, token }), 401, 'SESSION_INVALID');
  expectError(await api.logoutV2({ app_id, session_token: token }), 401, 'SESSION_INVALID');
  expectError(await api.call('GET', '/api/v2/dev/apps', undefined, { token }), 401, 'UNAUTHORIZED');
});

test('VALIDATION_FAILED lists every fault', async () => {
  const send = (body: object) => api.post('/api/v1/sandbox/auth', body);
  expectFaults(await send({}), '/app_id', '/username', '/hwid');
  expectFaults(await send({ app_id: '', username: 1, hwid: 'a\u0000' }), '/app_id', '/username', '/hwid');
  expectFaults(await send({ ...request(), username: 'a\u202eb' }), '/username');
  expectFaults(await send({ ...request(), username: 'u'.repeat(65) }), '/username');
});
