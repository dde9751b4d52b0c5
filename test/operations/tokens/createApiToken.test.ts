import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { api, baseUrl, clock, databaseUrl, services } = await startTestService();

const create = (token: string, body: unknown) =>
  api.post<components['schemas']['CreateApiTokenResult']>('/api/v2/dev/tokens', body, { token });
const apps = async (token: string) =>
  (await api.call('GET', '/api/v2/dev/apps', undefined, { token })).status;
const inMs = (ms: number) => new Date(clock.now().getTime() + ms).toISOString();

test('creates a token that has its scopes until its end', async () => {
  const developer = await newDeveloper(api);
  const wanted = { name: 'Discord bot 🤖', scopes: ['read'], expires_at: inMs(2 * DAY) };
  const { status, body } = await create(developer.token, wanted);
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    token_id: expect.stringMatching(/^tok_[0-9a-z]{26}$/),
    ...wanted,
    last_used_at: null,
    created_at: clock.now().toISOString(),
    token: expect.stringMatching(/^lkd_[\w-]{43}$/),
  });
  expect(await apps(body.token)).toBe(200);
  expectError(
    await api.post('/api/v2/dev/apps', { name: 'x' }, { token: body.token }),
    403,
    'INSUFFICIENT_SCOPE',
  );
  // The session that created it expired long before.
  clock.advance(2 * DAY - 1);
  expect(await apps(body.token)).toBe(200);
  clock.advance(1);
  expect(await apps(body.token)).toBe(401);
});

test.each([{}, { expires_at: null }])('with %j it never ends', async (more) => {
  const { token } = await newDeveloper(api);
  const { body } = await create(token, { name: 'bot', scopes: ['read'], ...more });
  expect(body.expires_at).toBeNull();
  clock.advance(4000 * DAY);
  expect(await apps(body.token)).toBe(200);
});

test('is stored as a digest', async () => {
  const { token } = await newApiToken(api, await newDeveloper(api), ['read']);
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query('select * from api_tokens');
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(token.slice(4));
});

test('is in the audit log, without the token', async () => {
  const developer = await newDeveloper(api);
  const { token, token_id: target } = await newApiToken(api, developer, ['read', 'auth:dev']);
  const entries = await auditLog(api, developer, '&action=api_token.created');
  expect(entries).toMatchObject([
    { target, app_id: null, data: { name: 'bot', scopes: ['read', 'auth:dev'], expires_at: null } },
  ]);
  expect(JSON.stringify(entries)).not.toContain(token);
});

describe('a token that was created with a token', () => {
  test('cannot have a scope that the creating token lacks', async () => {
    const maker = await newApiToken(api, await newDeveloper(api), ['auth:dev', 'read']);
    const refused = await create(maker.token, { name: 'bot', scopes: ['read', 'write'] });
    expectError(refused, 403, 'INSUFFICIENT_SCOPE');
    expect(refused.body).toMatchObject({ scope: 'write' });
    expect((await create(maker.token, { name: 'bot', scopes: ['read', 'auth:dev'] })).status).toBe(201);
  });

  test('expires no later than the creating token', async () => {
    const developer = await newDeveloper(api);
    const maker = await newApiToken(api, developer, ['auth:dev'], { expires_at: inMs(DAY) });
    const body = { name: 'bot', scopes: ['auth:dev'] };
    for (const expires_at of [undefined, null, inMs(DAY + 1)]) {
      expectFaults(await create(maker.token, { ...body, expires_at }), '/expires_at');
    }
    expect((await create(maker.token, { ...body, expires_at: inMs(DAY) })).status).toBe(201);
    expect(await auditLog(api, developer, `&actor_id=${maker.token_id}`)).toHaveLength(1);
  });

  test('is not created if the creating token is revoked meanwhile', async () => {
    const developer = await newDeveloper(api);
    const { developerId } = developer;
    const maker = await newApiToken(api, developer, ['auth:dev', 'read'], { expires_at: inMs(DAY) });
    await api.call('DELETE', `/api/v2/dev/tokens/${maker.token_id}`, undefined, developer);
    const actor = { kind: 'api_token', id: maker.token_id, developerId, address: '::1' } as const;
    const wanted = { name: 'bot', scopes: ['read'], expiresAt: null } as const;
    await expect(services.apiTokens.create(actor, ['auth:dev', 'read'], wanted)).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    });
    expect((await api.call('GET', '/api/v2/dev/tokens', undefined, developer)).body['data']).toEqual([]);
  });

  test('stays valid when the creating token is revoked', async () => {
    const developer = await newDeveloper(api);
    const maker = await newApiToken(api, developer, ['auth:dev', 'read']);
    const made = await newApiToken(api, maker, ['read']);
    await api.call('DELETE', `/api/v2/dev/tokens/${maker.token_id}`, undefined, developer);
    expect(await apps(made.token)).toBe(200);
  });
});

test('VALIDATION_FAILED lists every fault', async () => {
  const developer = await newDeveloper(api);
  const body = { name: 'bot', scopes: ['read'] };
  expectFaults(await create(developer.token, {}), '/name', '/scopes');
  expectFaults(await create(developer.token, { ...body, scopes: [] }), '/scopes');
  expectFaults(await create(developer.token, { ...body, scopes: ['read', 'read'] }), '/scopes');
  expectFaults(await create(developer.token, { ...body, scopes: ['admin'] }), '/scopes/0');
  expectFaults(await create(developer.token, { ...body, name: '' }), '/name');
  expectFaults(await create(developer.token, { ...body, name: 'x'.repeat(101) }), '/name');
  for (const expires_at of [clock.now().toISOString(), inMs(-1), 'tomorrow', '+275760-09-13T00:00:00Z']) {
    expectFaults(await create(developer.token, { ...body, expires_at }), '/expires_at');
  }
  const list = await api.call('GET', '/api/v2/dev/tokens', undefined, developer);
  expect(list.body['data']).toEqual([]);
});

test('INSUFFICIENT_SCOPE names the scope', async () => {
  const { token } = await newApiToken(api, await newDeveloper(api), ['read', 'write']);
  const response = await create(token, { name: 'bot', scopes: ['read'] });
  expectError(response, 403, 'INSUFFICIENT_SCOPE');
  expect(response.body).toMatchObject({ scope: 'auth:dev' });
  expect(response.headers.get('www-authenticate')).toBe(
    `Bearer realm="latchkey", resource_metadata="${baseUrl}/.well-known/oauth-protected-resource", error="insufficient_scope", scope="auth:dev"`,
  );
});
