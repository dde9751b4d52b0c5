import { describe, expect, test } from 'vitest';
import { operations, type ContractOperation } from '../../contract/operations.ts';
import { examplePath, newOwner, resellerToken } from '../../contract/parameters.ts';
import { expectError } from '../../operations/support/errors.ts';
import { newReseller } from '../../operations/support/resellers.ts';
import { ADMINISTRATOR } from '../../support/billing.ts';
import { newBrowserSession, SAME_ORIGIN, signIn } from '../../support/browser-session.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const owner = await newOwner(api);
const { app, developer } = owner;
const COOKIES: Readonly<Record<string, string>> = {
  developer: (await newBrowserSession(api, developer)).headers['cookie']!,
  reseller: (await newBrowserSession(api, { token: await resellerToken(owner, ['read', 'write']) })).headers[
    'cookie'
  ]!,
  administrator: (await newBrowserSession(api, ADMINISTRATOR)).headers['cookie']!,
};
const KINDS = Object.keys(COOKIES);

const named = (some: readonly ContractOperation[]) =>
  some.map((operation) => [operation.operationId, operation] as const);
const ofBrowsers = operations.filter(({ tokenKind }) => KINDS.includes(tokenKind!));

/** Sends a request that has no body or an invalid one, to a path of records that do not exist. */
const send = ({ method, path, requestBody }: ContractOperation, headers: Record<string, string>) =>
  api.call(method, examplePath(path), requestBody && '{', {
    headers: { ...(requestBody && { 'content-type': requestBody.mediaType }), ...headers },
  });

/** What pages of other origins, and what is sent without a page, may look like. */
const FOREIGN: readonly (readonly [string, Record<string, string>])[] = [
  ['another port of the same host', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://example.com' }],
  ['a sandboxed frame', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
  ['an unknown site', { 'sec-fetch-site': 'nonsense', origin: baseUrl }],
  ['two sites', { 'sec-fetch-site': 'same-origin, cross-site', origin: baseUrl }],
  ['another port, without Sec-Fetch-Site', { origin: 'http://127.0.0.1:1' }],
  ['another host, without Sec-Fetch-Site', { origin: 'http://example.com' }],
  ['our host in another scheme', { origin: baseUrl.replace('http:', 'https:') }],
  ['our origin with a path', { origin: `${baseUrl}/` }],
  ['the origin null, without Sec-Fetch-Site', { origin: 'null' }],
];
/** Browsers send `Origin` with every unsafe request. */
const WITHOUT_ORIGIN = [
  ['no header at all', {}],
  ['the address bar', { 'sec-fetch-site': 'none' }],
] as const;

test('there are operations of every kind', () => {
  for (const kind of KINDS) {
    expect(ofBrowsers.filter(({ tokenKind }) => tokenKind === kind).length, kind).toBeGreaterThan(5);
  }
});

describe.each(named(ofBrowsers))('%s', (_operationId, operation) => {
  const kind = operation.tokenKind!;
  const cookie = COOKIES[kind]!;
  // These would end the session.
  const isFinal = ['logoutDeveloper', 'endDeveloperSessions'].includes(operation.operationId);

  test('accepts the cookie of its kind, and of no other', async () => {
    if (!isFinal) expect((await send(operation, { ...SAME_ORIGIN, cookie })).status).not.toBe(401);
    for (const other of KINDS.filter((each) => each !== kind)) {
      const response = await send(operation, { ...SAME_ORIGIN, cookie: COOKIES[other]! });
      expectError(response, 401, 'UNAUTHORIZED');
    }
  });

  test('does not accept it with an Authorization header, or as a bearer token', async () => {
    const value = cookie.split('=')[1]!;
    for (const authorization of ['Bearer nonsense', 'Bearer', 'Basic Zm9vOmJhcg==', `Bearer ${value}`, '']) {
      const response = await send(operation, { ...SAME_ORIGIN, cookie, authorization });
      expectError(response, 401, 'UNAUTHORIZED');
    }
    expectError(
      await send(operation, { ...SAME_ORIGIN, authorization: `Bearer ${value}` }),
      401,
      'UNAUTHORIZED',
    );
  });

  test('refuses it from other origins, before anything else', async () => {
    const isSafe = operation.method === 'GET';
    for (const [from, headers] of [...FOREIGN, ...(isSafe ? [] : WITHOUT_ORIGIN)]) {
      const response = await send(operation, { ...headers, cookie });
      expect([from, response.status, response.body['code']]).toEqual([from, 403, 'CROSS_ORIGIN_REQUEST']);
    }
    if (!isSafe || isFinal) return;
    for (const [from, headers] of WITHOUT_ORIGIN) {
      expect((await send(operation, { ...headers, cookie })).status, from).not.toBe(403);
    }
  });
});

describe.each(named(operations.filter(({ tokenKind }) => !KINDS.includes(tokenKind!))))(
  '%s',
  (_operationId, operation) => {
    test('responds the same with a cookie and without one', async () => {
      if (operation.path === '/api/v2/dev/browser-session') return;
      const same = async (headers: Record<string, string>) => {
        const { status, body } = await send(operation, headers);
        return { status, code: (body as Record<string, unknown> | undefined)?.['code'] };
      };
      const without = await same(SAME_ORIGIN);
      for (const kind of KINDS)
        expect(await same({ ...SAME_ORIGIN, cookie: COOKIES[kind]! })).toEqual(without);
    });
  },
);

test('a bearer token is accepted from every origin', async () => {
  for (const [from, headers] of [...FOREIGN, ...WITHOUT_ORIGIN]) {
    const { token } = developer;
    const response = await api.call('GET', '/api/v2/dev/me', undefined, { token, headers });
    expect(response.status, from).toBe(200);
  }
});

test('no other endpoint accepts the cookie', async () => {
  const cookie = COOKIES['developer']!;
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const requests: [string, RequestInit][] = [
    [
      '/mcp',
      { method: 'POST', body: JSON.stringify(message), headers: { 'content-type': 'application/json' } },
    ],
    ['/oauth/userinfo', {}],
    ['/oauth/userinfo', { method: 'POST' }],
  ];
  for (const [path, init] of requests) {
    const headers = {
      accept: 'application/json, text/event-stream',
      ...init.headers,
      ...SAME_ORIGIN,
      cookie,
    };
    const { status } = await fetch(baseUrl + path, { ...init, headers });
    expect([path, status]).toEqual([path, 401]);
  }
});

test('a sign-in from another origin sets no cookie', async () => {
  const { email, password } = await newDeveloper(api);
  for (const [from, headers] of [...FOREIGN, ...WITHOUT_ORIGIN]) {
    const response = await signIn(api, { email, password }, headers);
    expect([from, response.status, response.headers.getSetCookie()]).toEqual([from, 403, []]);
  }
  // Browsers on a plain HTTP address that is not a loopback one do not send Sec-Fetch-Site.
  const response = await signIn(api, { email, password }, { origin: baseUrl });
  expect([response.status, response.headers.getSetCookie().length]).toEqual([201, 1]);
});

test('a sign-out from another origin has no effect', async () => {
  const { headers } = await newBrowserSession(api, await newDeveloper(api));
  const PATH = '/api/v2/dev/browser-session';
  for (const [from, foreign] of [...FOREIGN, ...WITHOUT_ORIGIN]) {
    const response = await api.call('DELETE', PATH, undefined, {
      headers: { ...foreign, cookie: headers['cookie']! },
    });
    expect([from, response.status]).toEqual([from, 403]);
  }
  expect((await api.call('GET', PATH, undefined, { headers })).status).toBe(200);
});

test('a write from another origin has no effect', async () => {
  const path = `/api/v2/dev/apps/${app.app_id}`;
  const cookie = COOKIES['developer']!;
  const name = async () => (await api.call('GET', path, undefined, { token: developer.token })).body['name'];
  const before = await name();
  for (const [from, headers] of [...FOREIGN, ...WITHOUT_ORIGIN]) {
    const response = await api.call('PATCH', path, { name: 'Changed' }, { headers: { ...headers, cookie } });
    expect([from, response.status]).toEqual([from, 403]);
  }
  expect(await name()).toBe(before);
  const response = await api.call(
    'PATCH',
    path,
    { name: 'Changed' },
    { headers: { ...SAME_ORIGIN, cookie } },
  );
  expect(response.status).toBe(200);
  expect(await name()).toBe('Changed');
});

test('a session that is removed from the configuration of the administrator ends', async () => {
  const { createAdministrators } = await import('../../../src/accounts/administrators/administrators.ts');
  const [one, two] = [createAdministrators(['first', 'second']), createAdministrators(['second'])];
  const mac = one.macOf('first', 'cookie')!;
  expect(one.ofMac(mac, 'cookie', '127.0.0.1')).toMatchObject({ kind: 'administrator' });
  expect(one.ofMac(mac, 'other', '127.0.0.1')).toBeUndefined();
  expect(two.ofMac(mac, 'cookie', '127.0.0.1')).toBeUndefined();
  expect(two.macOf('first', 'cookie')).toBeUndefined();
});

test('scopes of a reseller hold for the browser, too', async () => {
  const { token } = await newReseller(api, await newApp(api, developer), { scopes: ['read'] });
  const session = await newBrowserSession(api, { token });
  expect((await api.call('GET', '/api/v2/dev/reseller', undefined, session)).status).toBe(200);
  const bought = await api.call('POST', '/api/v2/dev/reseller/licenses', {}, session);
  expectError(bought, 403, 'INSUFFICIENT_SCOPE');
});
