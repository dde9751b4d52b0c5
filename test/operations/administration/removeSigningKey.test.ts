import * as client from 'openid-client';
import { expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { publishedKeyIds, signingKeys } from '../../support/signing-keys.ts';
import { expectError } from '../support/errors.ts';

const service = await startTestService();
const { api } = service;
const remove = (keyId: string) =>
  api.call('DELETE', `/api/v2/admin/signing-keys/${keyId}`, undefined, ADMINISTRATOR);
const me = async (token: string) => (await api.call('GET', '/api/v2/dev/me', undefined, { token })).status;

test('signatures of a removed key are no longer valid, and another key takes over', async () => {
  const developer = await newDeveloper(api);
  const registered = await newClient(api, developer);
  const { config, redeem } = await authorize(service.baseUrl, developer, registered);
  const before = await redeem();
  expect(await me(before.access_token)).toBe(200);
  const removed = (await signingKeys(api)).find(({ alg }) => alg === 'ES256')!.key_id;
  expect(await remove(removed)).toMatchObject({ status: 200, body: { message: 'Signing key removed.' } });
  expect(await me(before.access_token)).toBe(401);
  expect(await client.tokenIntrospection(config, before.access_token)).toEqual({ active: false });
  expect(await publishedKeyIds(api)).not.toContain(removed);
  const after = await client.refreshTokenGrant(config, before.refresh_token!);
  expect(await me(after.access_token)).toBe(200);
  expectError(await remove(removed), 404, 'SIGNING_KEY_NOT_FOUND');
  const { rows } = await service.database.knex.raw('select sealed from signing_keys where key_id = ?', [
    removed,
  ]);
  expect(rows).toEqual([{ sealed: null }]);
});

test('a key that does not exist is refused', async () => {
  expectError(await remove('unknown'), 404, 'SIGNING_KEY_NOT_FOUND');
});
