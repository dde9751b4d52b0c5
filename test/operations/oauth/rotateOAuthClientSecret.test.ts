import * as client from 'openid-client';
import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { discover, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { apiToken } from '../../mcp/client.ts';
import { auditLog } from '../support/tokens.ts';

const service = await startTestService();
const { api } = service;
const rotate = (id: string, token: string) =>
  api.post<{ client_secret: string }>(`/api/v2/dev/oauth-clients/${id}/secret`, undefined, { token });

test('the new secret is valid, the old one is not, and tokens stay valid', async () => {
  const developer = await newDeveloper(api);
  const before = await newClient(api, developer, { redirect_uris: [], grant_types: ['client_credentials'] });
  const { access_token } = await client.clientCredentialsGrant(await discover(service.baseUrl, before));
  const { status, body } = await rotate(before.client_id, developer.token);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      status: 'success',
      client_id: before.client_id,
      client_secret: expect.stringMatching(/^[\w-]{43}$/),
    },
  });
  await expect(client.clientCredentialsGrant(await discover(service.baseUrl, before))).rejects.toThrow();
  const after = await discover(service.baseUrl, { ...before, client_secret: body.client_secret });
  expect((await client.clientCredentialsGrant(after)).access_token).toBeDefined();
  expect((await api.call('GET', '/api/v2/dev/me', undefined, { token: access_token })).status).toBe(200);
  const [entry] = await auditLog(api, developer);
  expect(entry).toMatchObject({ action: 'oauth_client.secret_rotated', target: before.client_id });
  expect(JSON.stringify(entry)).not.toContain(body.client_secret);
});

test('a public client has no secret', async () => {
  const developer = await newDeveloper(api);
  const { client_id } = await newClient(api, developer, { token_endpoint_auth_method: 'none' });
  expectError(await rotate(client_id, developer.token), 400, 'VALIDATION_FAILED');
});

test('counts as absent for another developer', async () => {
  const { client_id } = await newClient(api, await newDeveloper(api));
  expectError(await rotate(client_id, (await newDeveloper(api)).token), 404, 'CLIENT_NOT_FOUND');
});

test('a token cannot get the secret of a client with more scopes', async () => {
  const developer = await newDeveloper(api);
  const machine = { redirect_uris: [], grant_types: ['client_credentials' as const] };
  const registered = await newClient(api, developer, { ...machine, scopes: ['read', 'write'] });
  const weak = await apiToken(api, developer.token, ['auth:dev', 'read']);
  const { body } = await rotate(registered.client_id, weak);
  expect(body).toMatchObject({ code: 'INSUFFICIENT_SCOPE', scope: 'write' });
  const config = await discover(service.baseUrl, registered);
  expect((await client.clientCredentialsGrant(config)).access_token).toBeDefined();
  const redirected = { redirect_uris: ['https://elsewhere.example/'] };
  const at = `/api/v2/dev/oauth-clients/${registered.client_id}`;
  expectError(await api.call('PATCH', at, redirected, { token: weak }), 403, 'INSUFFICIENT_SCOPE');
  expect((await api.call('PATCH', at, { name: 'Renamed' }, { token: weak })).status).toBe(200);
});
