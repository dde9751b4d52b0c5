import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { createKeyring } from '../../../src/platform/keyring.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import type { Api } from '../../support/api.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { MASTER_KEY, startTestService } from '../../support/service.ts';
import { untilSigningKeysResealed } from '../../support/signing-keys-resealed.ts';
import { newTrustedClient } from '../../support/trusted-client.ts';
import { comparable, expectError } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

type Schemas = components['schemas'];

const service = await startTestService();
const { api, clock } = service;

const list = ({ app_id, token }: Pick<App, 'app_id' | 'token'>, at: Api = api) =>
  at.call<Schemas['ApplicationSigningKeyList']>('GET', `/api/v2/dev/apps/${app_id}/signing-keys`, undefined, {
    token,
  });

const thumbprint = (x: string) =>
  createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');

test('a new application has a signing key and a next key, named by their thumbprints', async () => {
  const { status, body } = await list(await newApp(api));
  expect(status).toBe(200);
  const created_at = clock.now().toISOString();
  const common = {
    kid: expect.any(String),
    alg: 'EdDSA',
    public_key: expect.stringMatching(/^[\w-]{43}$/),
    created_at,
    retired_at: null,
  };
  expect(body.status).toBe('success');
  expect(body.data.toSorted((a, b) => b.state.localeCompare(a.state))).toEqual([
    { ...common, state: 'signing', signing_since: created_at },
    { ...common, state: 'next', signing_since: null },
  ]);
  for (const { kid, public_key } of body.data) expect(kid).toBe(thumbprint(public_key));
  expect(new Set(body.data.map(({ kid }) => kid)).size).toBe(2);
});

test('the response to the creation of an application contains the same keys', async () => {
  const { token } = await newDeveloper(api);
  const { body } = await api.post<Schemas['CreateApplicationResult']>(
    '/api/v2/dev/apps',
    { name: 'Aurora' },
    { token },
  );
  const { data } = (await list({ app_id: body.app_id, token })).body;
  expect(body.signing_keys).toEqual(data);
});

test('an application from before signing keys existed gets its keys once', async () => {
  const app = await newApp(api);
  const { data: before } = (await list(app)).body;
  const database = await connectTo(service.databaseUrl);
  await database.query('delete from application_keys where app_id = $1', [app.app_id]);
  const responses = await Promise.all([list(app), list(app), list(app)]);
  const { data } = responses[0].body;
  for (const { status, body } of [...responses, await list(app)]) {
    expect({ status, data: body.data }).toEqual({ status: 200, data });
  }
  expect(data.map(({ state }) => state).sort()).toEqual(['next', 'signing']);
  for (const { kid } of before) expect(data.map((key) => key.kid)).not.toContain(kid);
  const client = await newTrustedClient(api, app, () => clock.now());
  const { status } = await client.call('POST', '/api/v2/client/init', { app_id: app.app_id });
  expect(status).toBe(200);
});

test('requires the scope read only', async () => {
  const app = await newApp(api);
  const reader = await newApiToken(api, app, ['read']);
  expect((await list({ ...app, token: reader.token })).status).toBe(200);
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  const foreign = await list({ app_id: app.app_id, token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await list({ app_id: 'app_absent', token }))).toEqual(comparable(foreign));
});

test('all keys outlive a rotation of the master key', async () => {
  const DATABASE_URL = await createTestDatabase();
  const newKey = randomBytes(32);
  const before = await startTestService({ DATABASE_URL });
  const app = await newApp(before.api);
  const path = `/api/v2/dev/apps/${app.app_id}/signing-keys`;
  const rotate = () => before.api.post(`${path}/rotate`, { force: true }, app);
  const { data: first } = (await list(app, before.api)).body;
  for (let round = 0; round < 2; round += 1) expect((await rotate()).status).toBe(200);
  const oldest = first.find(({ state }) => state === 'signing')!;
  expect((await before.api.call('DELETE', `${path}/${oldest.kid}`, undefined, app)).status).toBe(200);
  const { data } = (await list(app, before.api)).body;
  const during = await startTestService({
    DATABASE_URL,
    MASTER_KEY: `${newKey.toString('base64')},${MASTER_KEY}`,
  });
  while ((await during.services.applicationKeys.reseal()) > 0);
  while ((await during.services.applications.reseal()) > 0);
  const database = await connectTo(DATABASE_URL);
  const { keyId } = createKeyring([newKey], systemRandom);
  const sealedBy = async () =>
    (
      await database.query<{ key: Buffer | null }>(
        'select substring(private_key_sealed from 1 for 8) as key from application_keys order by retired_at nulls last',
      )
    ).rows.map(({ key }) => key);
  await expect.poll(sealedBy).toEqual([null, keyId, keyId, keyId]);
  await untilSigningKeysResealed(DATABASE_URL, keyId);
  const after = await startTestService({ DATABASE_URL, MASTER_KEY: newKey.toString('base64') });
  expect((await list(app, after.api)).body.data).toEqual(data);
  const client = await newTrustedClient(after.api, app, () => after.clock.now());
  const { body } = await client.call<Schemas['KeyStatementList']>(
    'GET',
    `/api/v2/client/apps/${app.app_id}/keys`,
  );
  expect(body.data).toHaveLength(2);
});

test('a dump contains no private key', async () => {
  const app = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query<{ sealed: Buffer }>(
    'select private_key_sealed as sealed from application_keys where app_id = $1',
    [app.app_id],
  );
  expect(rows).toHaveLength(2);
  const pkcs8 = Buffer.from('302e020100300506032b6570', 'hex');
  for (const { sealed } of rows) {
    expect(sealed.length).toBeGreaterThan(48);
    expect(sealed.includes(pkcs8)).toBe(false);
  }
});
