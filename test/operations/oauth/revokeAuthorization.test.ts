import * as client from 'openid-client';
import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { auditLog } from '../support/tokens.ts';

const service = await startTestService();
const { api } = service;
const revoke = (id: string, token: string) =>
  api.call('DELETE', `/api/v2/dev/authorizations/${id}`, undefined, { token });

async function granted() {
  const developer = await newDeveloper(api);
  const registered = await newClient(api, developer);
  const flow = await authorize(service.baseUrl, developer, registered);
  const list = await api.call<components['schemas']['AuthorizationList']>(
    'GET',
    '/api/v2/dev/authorizations',
    undefined,
    developer,
  );
  return { developer, registered, ...flow, id: list.body.data[0]!.authorization_id };
}

test('ends an authorization with its tokens, and the client needs another consent', async () => {
  const { developer, registered, browser, config, redeem, id } = await granted();
  const { access_token, refresh_token } = await redeem();
  expect(await revoke(id, developer.token)).toMatchObject({
    status: 200,
    body: { message: 'Authorization revoked.' },
  });
  expect((await api.call('GET', '/api/v2/dev/me', undefined, { token: access_token })).status).toBe(401);
  await expect(client.refreshTokenGrant(config, refresh_token!)).rejects.toMatchObject({
    error: 'invalid_grant',
  });
  const silent = await authorize(service.baseUrl, developer, registered, { prompt: 'none' }, browser);
  expect(silent.url.searchParams.get('error')).toBe('consent_required');
  expect((await auditLog(api, developer))[0]).toMatchObject({ action: 'authorization.revoked', target: id });
});

test('a code that was not redeemed yet is no longer valid', async () => {
  const { developer, redeem, id } = await granted();
  await revoke(id, developer.token);
  await expect(redeem()).rejects.toMatchObject({ error: 'invalid_grant' });
});

test('counts as absent for another developer, and after the revocation', async () => {
  const { developer, id } = await granted();
  expectError(await revoke(id, (await newDeveloper(api)).token), 404, 'AUTHORIZATION_NOT_FOUND');
  expect((await revoke(id, developer.token)).status).toBe(200);
  expectError(await revoke(id, developer.token), 404, 'AUTHORIZATION_NOT_FOUND');
});
