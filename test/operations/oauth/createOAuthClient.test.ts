import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { api, clock, databaseUrl } = await startTestService();
const create = (token: string, body: unknown) => api.post('/api/v2/dev/oauth-clients', body, { token });
const MACHINE = { name: 'Build server', grant_types: ['client_credentials'], scopes: ['read', 'write'] };
const WEB = { name: 'Desk', grant_types: ['authorization_code'], scopes: ['openid', 'read'] };
const NATIVE = { ...WEB, application_type: 'native', token_endpoint_auth_method: 'none' };

test('registers a confidential client, whose secret is shown once', async () => {
  const { token } = await newDeveloper(api);
  const { status, body } = await create(token, MACHINE);
  expect(status).toBe(201);
  expect(body).toEqual({
    status: 'success',
    client_id: expect.stringMatching(/^cli_[0-9a-z]{26}$/),
    ...MACHINE,
    application_type: 'web',
    redirect_uris: [],
    post_logout_redirect_uris: [],
    token_endpoint_auth_method: 'client_secret_basic',
    created_at: clock.now().toISOString(),
    updated_at: clock.now().toISOString(),
    client_secret: expect.stringMatching(/^[\w-]{43}$/),
  });
});

test('registers a public client, which has no secret', async () => {
  const { token } = await newDeveloper(api);
  const redirect_uris = ['http://127.0.0.1/callback', 'com.example.desk:/callback'];
  const { status, body } = await create(token, { ...NATIVE, redirect_uris });
  expect(status).toBe(201);
  expect(body).not.toHaveProperty('client_secret');
  expect(body).toMatchObject({ redirect_uris, application_type: 'native', scopes: ['openid', 'read'] });
});

test('stores the secret encrypted', async () => {
  const { token } = await newDeveloper(api);
  const { body } = await create(token, MACHINE);
  const { rows } = await (await connectTo(databaseUrl)).query('select * from oauth_clients');
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(body['client_secret']);
});

test('is in the audit log, without the secret', async () => {
  const developer = await newDeveloper(api);
  const { body } = await create(developer.token, MACHINE);
  const [entry] = await auditLog(api, developer);
  expect(entry).toMatchObject({
    action: 'oauth_client.created',
    target: body['client_id'],
    data: { name: MACHINE.name },
  });
  expect(JSON.stringify(entry)).not.toContain(body['client_secret']);
});

test('a client cannot have a scope that the registering token lacks', async () => {
  const developer = await newDeveloper(api);
  const { token } = await newApiToken(api, developer, ['auth:dev', 'read']);
  expectError(await create(token, MACHINE), 403, 'INSUFFICIENT_SCOPE');
  expect((await create(token, { ...MACHINE, scopes: ['openid', 'read'] })).status).toBe(201);
});

test.each([
  [{ ...WEB }, '/redirect_uris'],
  [{ ...WEB, redirect_uris: ['http://shop.example/'] }, '/redirect_uris'],
  [{ ...WEB, redirect_uris: ['com.example:/callback'] }, '/redirect_uris'],
  [{ ...WEB, redirect_uris: ['https://shop.example/#part'] }, '/redirect_uris'],
  [{ ...NATIVE, redirect_uris: ['javascript:alert(1)'] }, '/redirect_uris'],
  [{ ...NATIVE, redirect_uris: ['http://shop.example/'] }, '/redirect_uris'],
  [{ ...MACHINE, post_logout_redirect_uris: ['http://shop.example/'] }, '/post_logout_redirect_uris'],
  [{ ...MACHINE, token_endpoint_auth_method: 'none' }, '/token_endpoint_auth_method'],
  [{ ...MACHINE, grant_types: ['client_credentials', 'refresh_token'] }, '/grant_types'],
])('%j is refused for %s', async (body, pointer) => {
  const { token } = await newDeveloper(api);
  expectFaults(await create(token, body), pointer);
});

test('a credential that acts for a developer cannot register a client', async () => {
  const developer = await newDeveloper(api);
  const { body } = await create(developer.token, { ...MACHINE, scopes: ['auth:dev'] });
  const response = await fetch(`${api.baseUrl}/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${String(body['client_id'])}:${String(body['client_secret'])}`)}`,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'auth:dev' }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  expectError(await create(access_token, MACHINE), 403, 'DELEGATED_CREDENTIAL');
});
