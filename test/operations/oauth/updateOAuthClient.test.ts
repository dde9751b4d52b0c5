import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const service = await startTestService();
const { api, clock } = service;
const update = (id: string, token: string, body: unknown) =>
  api.call('PATCH', `/api/v2/dev/oauth-clients/${id}`, body, { token });

test('changes what is sent, and nothing else', async () => {
  const developer = await newDeveloper(api);
  const { client_secret: _secret, ...client } = await newClient(api, developer);
  clock.advance(1000);
  const { status, body } = await update(client.client_id, developer.token, {
    name: 'Another',
    scopes: ['read'],
  });
  const changed = { ...client, name: 'Another', scopes: ['read'], updated_at: clock.now().toISOString() };
  expect({ status, body }).toEqual({ status: 200, body: changed });
  expect((await auditLog(api, developer))[0]).toMatchObject({
    action: 'oauth_client.updated',
    target: client.client_id,
    data: { changed: ['name', 'scopes'] },
  });
});

test('applies from the next request', async () => {
  const developer = await newDeveloper(api);
  const client = await newClient(api, developer);
  const redirect_uri = 'https://moved.example/callback';
  await update(client.client_id, developer.token, { redirect_uris: [redirect_uri] });
  const { redeem } = await authorize(service.baseUrl, developer, client, { redirect_uri });
  expect((await redeem()).access_token).toBeDefined();
});

test('refuses what creation refuses', async () => {
  const developer = await newDeveloper(api);
  const { client_id } = await newClient(api, developer);
  expectFaults(await update(client_id, developer.token, { redirect_uris: [] }), '/redirect_uris');
  const { token } = await newApiToken(api, developer, ['auth:dev']);
  expectError(await update(client_id, token, { scopes: ['write'] }), 403, 'INSUFFICIENT_SCOPE');
  expect((await update(client_id, token, { name: 'x' })).status).toBe(200);
});

test('counts as absent for another developer', async () => {
  const { client_id } = await newClient(api, await newDeveloper(api));
  expectError(
    await update(client_id, (await newDeveloper(api)).token, { name: 'x' }),
    404,
    'CLIENT_NOT_FOUND',
  );
});
