import * as client from 'openid-client';
import { expect, test } from 'vitest';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { auditLog } from '../support/tokens.ts';

const service = await startTestService();
const { api } = service;
const remove = (id: string, token: string) =>
  api.call('DELETE', `/api/v2/dev/oauth-clients/${id}`, undefined, { token });

test('deletes a client with all its authorizations, also those of other developers', async () => {
  const [owner, other] = [await newDeveloper(api), await newDeveloper(api)];
  const registered = await newClient(api, owner);
  const { config, redeem } = await authorize(service.baseUrl, other, registered);
  const { access_token, refresh_token } = await redeem();
  expect(await remove(registered.client_id, owner.token)).toMatchObject({
    status: 200,
    body: { message: 'Client deleted.' },
  });
  expect((await api.call('GET', '/api/v2/dev/me', undefined, { token: access_token })).status).toBe(401);
  await expect(client.refreshTokenGrant(config, refresh_token!)).rejects.toThrow();
  const list = await api.call('GET', '/api/v2/dev/authorizations', undefined, other);
  expect(list.body).toMatchObject({ data: [] });
  expect((await auditLog(api, owner))[0]).toMatchObject({
    action: 'oauth_client.deleted',
    target: registered.client_id,
  });
  expectError(await remove(registered.client_id, owner.token), 404, 'CLIENT_NOT_FOUND');
});

test('counts as absent for another developer', async () => {
  const { client_id } = await newClient(api, await newDeveloper(api));
  expectError(await remove(client_id, (await newDeveloper(api)).token), 404, 'CLIENT_NOT_FOUND');
});
