import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import type { components } from '../../generated/types.ts';
import { operations, type ContractOperation } from '../contract/operations.ts';
import { DAY, SECOND } from '../support/clock.ts';
import { connectMqtt, webSocketUrl } from '../realtime/support/mqtt-client.ts';
import { createTestDatabase } from '../support/database.ts';
import { newApp, newHwid, newSession, newUser, type App } from '../support/fixtures.ts';
import { MASTER_KEY, startTestService, type TestService } from '../support/service.ts';
import {
  faultOfResponse,
  newDevice,
  newTrustedClient,
  newTrustedSession,
  trustedHeaders,
  type TrustedClient,
} from '../support/trusted-client.ts';
import { expectError } from '../operations/support/errors.ts';

const service = await startTestService();
const { api, clock } = service;
const now = () => clock.now();
const VERIFY = '/api/v2/client/verify-session';
const VARIABLE = { value: 'Welcome back.', visibility: 'session' };

const { schemas } = contract.components;

type Keys = components['schemas']['ApplicationSigningKeyList']['data'];

/** Operations for programs, by the contract. */
const ofPrograms = operations.filter(({ path }) => /^\/api\/v[12]\/client\//.test(path));
const named = ofPrograms.map((operation) => [operation.operationId, operation] as const);

const pathIn = ({ path }: ContractOperation, { app_id }: App) =>
  path.replace('{app_id}', app_id).replace('{name}', 'motd').replace('{file_name}', 'setup.exe');

async function keysOf({ api: at }: Pick<TestService, 'api'>, { app_id, token }: App): Promise<Keys> {
  const path = `/api/v2/dev/apps/${app_id}/signing-keys`;
  const { body } = await at.call<{ data: Keys }>('GET', path, undefined, { token });
  return body.data;
}

/** Sends a request that requests a signed response. @returns its status, and what is wrong with its signature */
async function signedStatus(
  { api: at }: Pick<TestService, 'api'>,
  app: App,
  pinned: Keys,
  { method, path }: { readonly method: string; readonly path: string },
  body?: string,
  more: Record<string, string> = {},
): Promise<[number, string | undefined]> {
  const headers = {
    ...trustedHeaders(app.app_id, { method, path }, body, undefined, { at: now() }),
    ...more,
  };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(at.baseUrl + path, {
    method,
    headers: { ...type, ...headers },
    ...(body && { body }),
  });
  const text = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? ''
    : await response.text();
  const { status, headers: received } = response;
  return [status, faultOfResponse(pinned, { method, path, headers }, { status, headers: received, text })];
}

test('there are operations for programs', () => expect(ofPrograms.length).toBeGreaterThan(20));

describe.each(named)('%s', (operationId, operation) => {
  test('signs its response, with any status', async () => {
    const app = await newApp(api);
    const pinned = await keysOf(service, app);
    const request = { method: operation.method, path: pathIn(operation, app) };
    const bodies = operation.requestBody
      ? ['{}', '{"app_id":', '[]', `{"app_id":"${app.app_id}"}`, `"${'x'.repeat(200_000)}"`]
      : [undefined];
    for (const body of bodies) {
      const [status, fault] = await signedStatus(service, app, pinned, request, body);
      expect([operationId, status, fault]).toEqual([operationId, status, undefined]);
    }
    if (!operation.requestBody) return;
    const [status, fault] = await signedStatus(service, app, pinned, request, '{}', {
      'content-type': 'text/plain',
    });
    expect([status, fault]).toEqual([415, undefined]);
  });

  test('does not sign the response to a request without the headers', async () => {
    const app = await newApp(api);
    const body = operation.requestBody && { app_id: app.app_id };
    const { headers } = await api.call(operation.method, pathIn(operation, app), body);
    expect([headers.get('signature'), headers.get('latchkey-app')]).toEqual([null, null]);
  });

  test('refuses another application than that of the request', async () => {
    const [own, other] = [await newApp(api), await newApp(api)];
    if (operationId === 'listPlans' || operation.tokenKind === 'session') return;
    const { method } = operation;
    const path = pathIn(operation, other);
    const body = operation.requestBody && JSON.stringify({ app_id: other.app_id });
    const headers = trustedHeaders(own.app_id, { method, path }, body, undefined, { at: now() });
    const response = await api.call<{ errors?: { pointer: string }[] }>(method, path, body, { headers });
    expect([response.status, response.body.errors?.[0]?.pointer]).toEqual([400, 'header/latchkey-app']);
  });
});

describe('under require_client_trust', () => {
  /** A request of each operation that is valid but for the missing headers. */
  async function untrusted(operation: ContractOperation, app: App, device: TrustedClient['device']) {
    const user = await newUser(api, app);
    const { token } = await newSession(api, app);
    const [license_key] = await app.keys(1);
    const { hwid, alg, jwk } = device;
    const { app_id, secret } = app;
    const fields = { ...user, app_id, secret, token, license_key, hwid, alg, jwk, nonce: newHwid() };
    const wanted = Object.keys(operation.requestBody ? propertiesOf(operation) : {});
    const body = Object.fromEntries(Object.entries(fields).filter(([name]) => wanted.includes(name)));
    const at = String(clock.now().getTime());
    const headers: Record<string, string> =
      operation.signature === 'required' ? { 'x-signature': '0'.repeat(64), 'x-timestamp': at } : {};
    return { body: operation.requestBody && body, headers, token: operation.bearer ? token : undefined };
  }
  const propertiesOf = ({ requestBody }: ContractOperation): object => {
    const name = requestBody!.schema.$ref!.split('/').at(-1)!;
    return (schemas as unknown as Record<string, { properties: object }>)[name]!.properties;
  };

  test.each(named.filter(([id]) => id !== 'listPlans'))('%s', async (operationId, operation) => {
    const app = await newApp(api);
    const { body, headers, token } = await untrusted(operation, app, newDevice());
    await app.patch({ require_client_trust: true });
    const response = await api.call<{ code: string }>(operation.method, pathIn(operation, app), body, {
      headers,
      token,
    });
    const requiresDevice = [
      'registerDevice',
      'registerUserV2',
      'activateLicenseV2',
      'loginWithPassword',
      'refreshSession',
    ];
    const refused = requiresDevice.includes(operationId)
      ? 'DEVICE_SIGNATURE_INVALID'
      : 'CLIENT_TRUST_REQUIRED';
    // A signature that is not valid is refused first.
    const code = operationId === 'loginUserV2' ? 'INVALID_APP_CREDENTIALS' : refused;
    expect([operationId, response.body.code]).toEqual([operationId, code]);
  });

  test('a trusted program does everything, and an unbound session is refused', async () => {
    const app = await newApp(api);
    const unbound = await newSession(api, app);
    const [license_key] = await app.keys(1, 'Pro');
    await app.patch({ require_client_trust: true });
    const client = await newTrustedClient(api, app, now);
    const { call } = client;
    const { app_id } = app;
    const { token, user } = await newTrustedSession(client);
    const statuses = [
      await call('POST', '/api/v2/client/init', { app_id }),
      await call('POST', '/api/v2/client/activate', { app_id, username: user.username, license_key }),
      await call('POST', VERIFY, { app_id, token }),
      await call('GET', `/api/v2/client/apps/${app_id}/variables`, undefined, { token }),
      await call('GET', `/api/v2/client/apps/${app_id}/files`, undefined, { token }),
      await call('GET', `/api/v2/client/apps/${app_id}/keys`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
    expectError(await call('POST', VERIFY, { app_id, token: unbound.token }), 426, 'CLIENT_TRUST_REQUIRED');
    const { body } = await call<{ token: string }>('POST', '/api/v2/client/refresh', { app_id, token });
    expectError(await call('POST', VERIFY, { app_id, token }), 401, 'SESSION_INVALID');
    expect((await call('POST', '/api/v2/client/logout', { app_id, token: body.token })).status).toBe(200);
  });
});

describe('the signature of a device', () => {
  async function session() {
    const app = await newApp(api);
    const client = await newTrustedClient(api, app, now);
    return { app, client, ...(await newTrustedSession(client)) };
  }

  const other = 'x'.repeat(20);
  test.each<[string, Record<string, string | undefined>]>([
    ['is missing', { signature: undefined }],
    ['has another label', { signature: 'other=:AAAA:' }],
    ['is not base64', { signature: 'device=:?:' }],
    ['is of another request', { signature: `device=:${'A'.repeat(86)}==:` }],
    ['has no input', { 'signature-input': undefined }],
    ['covers nothing', { 'signature-input': 'device=();created=1;keyid="x";tag="latchkey-request"' }],
    ['has another device', { 'latchkey-device': `dev_${'A'.repeat(43)}` }],
    ['has no device', { 'latchkey-device': undefined }],
    ['does not cover the body', { 'content-digest': undefined }],
    ['has the digest of another body', { 'content-digest': `sha-256=:${'A'.repeat(43)}=:` }],
    ['was made with another nonce', { 'latchkey-nonce': other }],
    ['does not cover a token that was added', { authorization: `Bearer ${other}` }],
  ])('is refused if it %s', async (_name, headers) => {
    const { app, client, token } = await session();
    const body = JSON.stringify({ app_id: app.app_id, token });
    const sent = trustedHeaders(app.app_id, { method: 'POST', path: VERIFY }, body, client.device, {
      at: now(),
      headers,
    });
    expectError(await api.call('POST', VERIFY, body, { headers: sent }), 401, 'DEVICE_SIGNATURE_INVALID');
  });

  test('covers method, path and query', async () => {
    const { app, client, token } = await session();
    const path = `/api/v2/client/apps/${app.app_id}/variables`;
    const sign = (signed: { method: string; path: string }) =>
      trustedHeaders(app.app_id, signed, undefined, client.device, { at: now(), token });
    const get = async (headers: Record<string, string>) => api.call('GET', path, undefined, { headers });
    expect((await get(sign({ method: 'GET', path }))).status).toBe(200);
    for (const signed of [
      { method: 'POST', path },
      { method: 'GET', path: path.replace('variables', 'files') },
      { method: 'GET', path: `${path}?a=b` },
    ]) {
      expectError(await get(sign(signed)), 401, 'DEVICE_SIGNATURE_INVALID');
    }
  });

  test.each([
    [300, 200],
    [301, 401],
    [-300, 200],
    [-301, 401],
  ])('of a clock that is %d seconds ahead returns %d', async (seconds, status) => {
    const { app, client, token } = await session();
    // Whole seconds are signed.
    clock.advance(1000 - (clock.now().getTime() % 1000));
    const at = new Date(clock.now().getTime() + seconds * SECOND);
    const response = await client.call('POST', VERIFY, { app_id: app.app_id, token }, { at });
    expect(response.status).toBe(status);
    if (status === 401) expect(response.body['code']).toBe('TIMESTAMP_OUT_OF_RANGE');
  });

  test('is of no use for another application', async () => {
    const { client, token } = await session();
    const second = await newTrustedClient(api, await newApp(api), now, client.device);
    const body = { app_id: second.app.app_id, token };
    expectError(await second.call('POST', VERIFY, body), 401, 'SESSION_INVALID');
  });
});

describe('a program refuses', () => {
  test('the recorded response to an earlier request, and one to another request', async () => {
    const app = await newApp(api);
    const pinned = await keysOf(service, app);
    const request = { method: 'POST', path: '/api/v2/client/init' };
    const body = JSON.stringify({ app_id: app.app_id });
    const send = async () => {
      const headers = trustedHeaders(app.app_id, request, body, undefined, { at: now() });
      const response = await api.call(request.method, request.path, body, { headers });
      return { sent: { ...request, headers }, received: { ...response, text: response.text! } };
    };
    const [first, second] = [await send(), await send()];
    expect(faultOfResponse(pinned, first.sent, first.received)).toBeUndefined();
    expect(faultOfResponse(pinned, second.sent, first.received)).toBe('forged');
    expect(faultOfResponse(pinned, { ...first.sent, path: VERIFY }, first.received)).toBe('forged');
    expect(faultOfResponse(pinned, first.sent, { ...first.received, status: 401 })).toBe('forged');
    expect(faultOfResponse(pinned, first.sent, { ...first.received, text: '{}' })).toBe('other body');
    const foreign = await keysOf(service, await newApp(api));
    expect(faultOfResponse(foreign, first.sent, first.received)).toBe('foreign key');
    const added = new Headers(first.received.headers);
    added.set('retry-after', '999999999');
    expect(faultOfResponse(pinned, first.sent, { ...first.received, headers: added })).toBe(
      'other components',
    );
  });
});

test('a session of a device is of no use as a bearer token or an MQTT password alone', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now);
  const { token, session_id } = await newTrustedSession(client);
  const own = `/api/v2/client/apps/${app.app_id}`;
  await api.call('PUT', `/api/v2/dev/apps/${app.app_id}/variables/motd`, VARIABLE, { token: app.token });
  for (const path of [`${own}/variables`, `${own}/variables/motd`, `${own}/files`, '/api/v2/client/events']) {
    for (const handle of [token, session_id]) {
      const alone = await api.call('GET', path, undefined, { token: handle });
      expectError(alone, 401, 'DEVICE_SIGNATURE_INVALID');
      expect((await client.call('GET', path, undefined, { token: handle })).status).toBe(200);
    }
  }
  const connecting = connectMqtt(webSocketUrl(api), { app_id: app.app_id, password: token });
  await expect(connecting).rejects.toThrow(/not authorized/i);
});

test('a device does not replace the signature with the secret unless programs need not know it', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now);
  const [license_key] = await app.keys(1);
  const login = { app_id: app.app_id, license_key, hwid: client.device.hwid };
  const post = (path: string, body: object) => client.call<{ token: string }>('POST', path, body);
  const { body } = await post('/api/v2/client/login-license', login);
  const session = { app_id: app.app_id, token: body.token };
  for (const [secretless_clients, status] of [
    [true, 200],
    [false, 401],
  ] as const) {
    await app.patch({ require_signatures: true, bind_responses: false, secretless_clients });
    expect((await post(VERIFY, session)).status).toBe(status);
    const renewed = await post('/api/v2/client/login-license', login);
    expect(renewed.status).toBe(status);
    // Never of version 1, which a relay could pass on.
    if (status === 200) expect(renewed.headers.get('x-signature-version')).toBe('2');
    session.token = renewed.body.token ?? session.token;
  }
});

test('a body that was exchanged on the way gets no response for the digest of the original', async () => {
  const app = await newApp(api);
  const path = '/api/v2/client/init';
  const original = JSON.stringify({ app_id: app.app_id, version: '1.0.0' });
  const headers = trustedHeaders(app.app_id, { method: 'POST', path }, original, undefined, { at: now() });
  const exchanged = JSON.stringify({ app_id: app.app_id, version: '9.0.0' });
  const response = await api.call<{ errors: { pointer: string }[] }>('POST', path, exchanged, { headers });
  expect([response.status, response.body.errors[0]!.pointer]).toEqual([400, 'header/content-digest']);
  const { 'content-digest': _digest, ...without } = headers;
  expect((await api.call('POST', path, original, { headers: without })).status).toBe(400);
  expect((await api.call('POST', path, original, { headers })).status).toBe(200);
});

test('responses are signed with the next key as soon as a rotation returns, on every node', async () => {
  const second = await startTestService({ DATABASE_URL: service.databaseUrl, MASTER_KEY });
  second.clock.advance(clock.now().getTime() - second.clock.now().getTime());
  const app = await newApp(api);
  const [signing, next] = (await keysOf(service, app)) as [Keys[0], Keys[0]];
  const request = { method: 'GET', path: `/api/v2/client/apps/${app.app_id}/files` };
  for (const node of [service, second]) {
    expect(await signedStatus(node, app, [signing], request)).toEqual([200, undefined]);
  }
  await api.post(`/api/v2/dev/apps/${app.app_id}/signing-keys/rotate`, { force: true }, { token: app.token });
  for (const node of [service, second]) {
    expect(await signedStatus(node, app, [next], request)).toEqual([200, undefined]);
    expect(await signedStatus(node, app, [signing], request)).toEqual([200, 'foreign key']);
  }
});

test('a node that has lost the database signs its 503', async () => {
  const databaseUrl = await createTestDatabase();
  const losing = await startTestService({ DATABASE_URL: databaseUrl }, { statementTimeoutMs: 2_000 });
  const app = await newApp(losing.api);
  const pinned = await keysOf(losing, app);
  const request = { method: 'GET', path: `/api/v2/client/apps/${app.app_id}/files` };
  expect(await signedStatus(losing, app, pinned, request)).toEqual([200, undefined]);
  await losing.database.close();
  expect(await signedStatus(losing, app, pinned, request)).toEqual([503, undefined]);
});

test('a 429 is signed with its Retry-After', async () => {
  const limited = await startTestService({ RATE_LIMIT: '2/60' });
  const app = await newApp(limited.api);
  const pinned = await keysOf(limited, app);
  const request = { method: 'POST', path: '/api/v2/client/devices' };
  const statuses = [];
  for (let sent = 0; sent < 3; sent += 1) {
    const body = JSON.stringify({ app_id: app.app_id });
    statuses.push(await signedStatus(limited, app, pinned, request, body));
  }
  expect(statuses.at(-1)).toEqual([429, undefined]);
});

test('a session survives a day of use by its device only', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, now);
  const { token } = await newTrustedSession(client);
  clock.advance(DAY - SECOND);
  const body = { app_id: app.app_id, token };
  expect((await client.call('POST', VERIFY, body)).status).toBe(200);
  clock.advance(SECOND);
  expectError(await client.call('POST', VERIFY, body), 401, 'SESSION_EXPIRED');
});
