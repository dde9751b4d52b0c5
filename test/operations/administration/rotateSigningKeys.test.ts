import { decodeProtectedHeader } from 'jose';
import * as client from 'openid-client';
import { expect, test } from 'vitest';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { authorize, newClient } from '../../support/oauth.ts';
import { startTestService } from '../../support/service.ts';
import { publishedKeyIds, signingKeys } from '../../support/signing-keys.ts';

const service = await startTestService();
const { api, clock } = service;
const rotate = () =>
  api.post<{ data: { key_id: string }[] }>('/api/v2/admin/signing-keys', undefined, ADMINISTRATOR);
const me = async (token: string) => (await api.call('GET', '/api/v2/dev/me', undefined, { token })).status;
const keyOf = (jwt: string) => decodeProtectedHeader(jwt).kid;

test('new keys are published at once, sign ten minutes later, and signatures of the old ones stay valid', async () => {
  const developer = await newDeveloper(api);
  const registered = await newClient(api, developer);
  const { config, redeem } = await authorize(service.baseUrl, developer, registered);
  const before = await redeem();
  const old = (await signingKeys(api)).map(({ key_id }) => key_id);
  clock.advance(1000);
  const { status, body } = await rotate();
  expect(status).toBe(201);
  const fresh = body.data.map(({ key_id }) => key_id).filter((key_id) => !old.includes(key_id));
  expect(fresh.length).toBe(2);
  expect((await publishedKeyIds(api)).sort()).toEqual([...old, ...fresh].sort());

  const pending = await client.refreshTokenGrant(config, before.refresh_token!);
  for (const jwt of [pending.access_token, pending.id_token!]) expect(old).toContain(keyOf(jwt));
  clock.advance(10 * 60_000);
  const after = await client.refreshTokenGrant(config, pending.refresh_token!);
  for (const jwt of [after.access_token, after.id_token!]) expect(fresh).toContain(keyOf(jwt));
  for (const { access_token } of [before, pending, after]) expect(await me(access_token)).toBe(200);
  expect((await signingKeys(api)).map(({ state }) => state)).toEqual([
    'signing',
    'signing',
    'retired',
    'retired',
  ]);

  clock.advance(25 * 3_600_000);
  expect((await publishedKeyIds(api)).sort()).toEqual([...fresh].sort());
});
