import { createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newTrustedClient } from '../../support/trusted-client.ts';
import { expectError } from '../support/errors.ts';

type Schemas = components['schemas'];
type Key = Schemas['ApplicationSigningKey'];

interface Statement {
  readonly app_id: string;
  readonly issued_at: number;
  readonly serial: number;
  readonly keys: readonly Pick<Key, 'kid' | 'alg' | 'public_key' | 'state'>[];
  readonly retired: readonly string[];
}

const service = await startTestService();
const { api, clock } = service;

const pathOf = ({ app_id }: Pick<App, 'app_id'>) => `/api/v2/client/apps/${app_id}/keys`;
const list = (app: Pick<App, 'app_id'>) => api.call<Schemas['KeyStatementList']>('GET', pathOf(app));

async function manage(app: App, method: string, path = '', body?: object): Promise<Key[]> {
  const at = `/api/v2/dev/apps/${app.app_id}/signing-keys${path}`;
  const response = await api.call<Schemas['ApplicationSigningKeyList']>(method, at, body, app);
  expect(response.status).toBe(200);
  return response.body.data;
}
/** Rotates the keys a second later, so that their order is certain. */
function rotate(app: App): Promise<Key[]> {
  clock.advance(SECOND);
  return manage(app, 'POST', '/rotate', { force: true });
}
const retire = (app: App, kid: string) => manage(app, 'DELETE', `/${kid}`);
const kidOf = (keys: readonly Key[], state: Key['state']) => keys.find((key) => key.state === state)!.kid;

const parse = (part: string | undefined): unknown =>
  JSON.parse(Buffer.from(part!, 'base64url').toString()) as unknown;

/** The statement of an application, and the keys that have signed it, after a check of every signature. */
async function read(
  app: App,
): Promise<{ readonly signers: readonly string[]; readonly statement: Statement }> {
  const keys = await manage(app, 'GET');
  const { status, body } = await list(app);
  expect(status).toBe(200);
  const read = body.data.map((jws) => {
    const [header, payload, signature] = jws.split('.');
    const { kid, ...rest } = parse(header) as { readonly kid: string };
    expect(rest).toEqual({ alg: 'EdDSA', typ: 'latchkey-keys+jws' });
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: keys.find((key) => key.kid === kid)!.public_key };
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    const signed = Buffer.from(`${header}.${payload}`);
    expect(verify(null, signed, key, Buffer.from(signature!, 'base64url'))).toBe(true);
    return { kid, payload };
  });
  expect(new Set(read.map(({ payload }) => payload)).size).toBe(1);
  return { signers: read.map(({ kid }) => kid), statement: parse(read[0]!.payload) as Statement };
}

test('a new application states its two keys, signed by the signing key', async () => {
  const app = await newApp(api);
  const keys = await manage(app, 'GET');
  const { signers, statement } = await read(app);
  expect(signers).toEqual([kidOf(keys, 'signing')]);
  expect(statement).toEqual({
    app_id: app.app_id,
    issued_at: Math.floor(clock.now().getTime() / 1000),
    serial: expect.any(Number),
    keys: keys.map(({ kid, alg, public_key, state }) => ({ kid, alg, public_key, state })),
    retired: [],
  });
});

test('after rotations, the signing key signs first, then each previous key', async () => {
  const app = await newApp(api);
  const first = kidOf(await manage(app, 'GET'), 'signing');
  const second = kidOf(await rotate(app), 'signing');
  const third = kidOf(await rotate(app), 'signing');
  const {
    signers: [newest, ...previous],
    statement,
  } = await read(app);
  expect(newest).toBe(third);
  expect(previous.sort()).toEqual([first, second].sort());
  expect(statement.keys.map(({ state }) => state).sort()).toEqual([
    'next',
    'previous',
    'previous',
    'signing',
  ]);
});

test('the serial rises with every rotation and retirement, and with nothing else', async () => {
  const app = await newApp(api);
  const serials: number[] = [];
  const note = async () => serials.push((await read(app)).statement.serial);
  await note();
  for (let round = 0; round < 2; round += 1) {
    const previous = kidOf(await rotate(app), 'previous');
    await note();
    await retire(app, previous);
    await note();
    await retire(app, kidOf(await manage(app, 'GET'), 'next'));
    await note();
  }
  expect(serials).toEqual([...new Set(serials)].sort((a, b) => a - b));
  clock.advance(SECOND);
  expect((await read(app)).statement.serial).toBe(serials.at(-1));
});

test('a retired key is listed, and signs nothing', async () => {
  const app = await newApp(api);
  const first = kidOf(await manage(app, 'GET'), 'signing');
  const second = kidOf(await rotate(app), 'signing');
  const keys = await rotate(app);
  const next = kidOf(keys, 'next');
  await retire(app, first);
  await retire(app, next);
  const { signers, statement } = await read(app);
  expect(signers).toEqual([kidOf(keys, 'signing'), second]);
  expect(new Set(statement.retired)).toEqual(new Set([first, next]));
  const stated = statement.keys.map(({ kid }) => kid);
  expect(stated).toHaveLength(3);
  for (const kid of [first, next]) expect(stated).not.toContain(kid);
});

test('an application from before signing keys existed gets its keys', async () => {
  const app = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  await database.query('delete from application_keys where app_id = $1', [app.app_id]);
  const { body } = await list(app);
  expect(body.data).toHaveLength(1);
  const { signers, statement } = await read(app);
  expect([signers.length, statement.keys.length]).toEqual([1, 2]);
});

test('works while the application is paused, but not while it is disabled', async () => {
  const app = await newApp(api);
  await app.patch({ paused: true });
  expect((await list(app)).status).toBe(200);
  await app.patch({ status: 'disabled' });
  expectError(await list(app), 401, 'APPLICATION_INACTIVE');
});

test('APPLICATION_NOT_FOUND', async () => {
  const app = await newApp(api);
  expectError(await list({ app_id: `app_${'0'.repeat(26)}` }), 404, 'APPLICATION_NOT_FOUND');
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expectError(await list(app), 404, 'APPLICATION_NOT_FOUND');
});

test('CLIENT_TRUST_REQUIRED unless the request requests a signed response', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, () => clock.now());
  await app.patch({ require_client_trust: true });
  expectError(await list(app), 426, 'CLIENT_TRUST_REQUIRED');
  expect((await client.call('GET', pathOf(app))).status).toBe(200);
});
