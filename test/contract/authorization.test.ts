import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ApiResponse } from '../support/api.ts';
import { ADMINISTRATOR } from '../support/billing.ts';
import { DAY } from '../support/clock.ts';
import { newDeveloper, newSession } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { newAgentToken } from '../operations/support/machine-payments.ts';
import { newApiToken } from '../operations/support/tokens.ts';
import { operations, takesJson, type ContractOperation } from './operations.ts';
import {
  examplePath,
  hasResellers,
  locate,
  locateAbsent,
  newOwner,
  pageHeaders,
  queryOf,
  resellerToken,
  sessionToken,
  tokenFor,
  type Owner,
} from './parameters.ts';

/** Operations without a bearer token. Operations of developers must never be added. */
const OPEN = [
  'getHealth',
  'loginUserV2',
  'loginWithLicense',
  'verifySessionV2',
  'logoutUserV2',
  'initApplicationV2',
  'listKeyStatements',
  // Authorized by the signature of a device.
  'registerDevice',
  'registerUserV2',
  'loginWithPassword',
  'activateLicenseV2',
  'refreshSession',
  'initApplication',
  'registerUser',
  'loginUser',
  'verifySession',
  'activateLicense',
  'logoutUser',
  'listPlans',
  'authenticateSandbox',
  'verifySandboxSession',
  'registerDeveloper',
  'loginDeveloper',
  // Authorized by access to the account's mail.
  'requestPasswordReset',
  'resetDeveloperPassword',
  // Authorized by the credentials in its body.
  'resetHwid',
  // Public variables and files. The others need a session.
  'listClientVariables',
  'getClientVariable',
  'listClientFiles',
  'downloadClientFile',
  // Callers that have not paid get the price.
  'getPaymentChallenge',
  'accessAsAgent',
  // Authorized by the body: nothing yet, a claim token, a credential or a signed event.
  'registerAgent',
  'claimAgent',
  'revokeAgent',
  // Authorized by the signature of the payment processor.
  'receivePaymentEvent',
  // Authorized by the credentials in the body, or by the cookie of a browser session.
  'createBrowserSession',
  'getBrowserSession',
  'deleteBrowserSession',
];

const ABSENT = 'app_01kazm4q7ffx8v5t2w9y3b6n1c';
const SCOPES = ['read', 'write', 'auth:dev', 'agent:register'] as const;
const AGENT_SCOPES = ['agent:execute'];

const service = await startTestService();
const { api, clock } = service;
const expired = await newDeveloper(api);
const expiredAgent = await newAgentToken(api);
clock.advance(DAY);
const owner = await newOwner(api);
const stranger = await newOwner(api);
const { app, developer } = owner;
const session = await newSession(api, app);
const application = await service.services.applications.authenticate(app.app_id, app.secret);
const encrypted = await service.services.logins.withPassword(application, session.owner, 'encrypted', {
  address: '127.0.0.1',
});
const live = await newSession(api, app);
const sandbox = await api.sandbox({ app_id: app.app_id, username: 'agent', hwid: 'machine' });
const revoked = await newApiToken(api, developer, SCOPES);
await api.call('DELETE', `/api/v2/dev/tokens/${revoked.token_id}`, undefined, developer);
const short = await newApiToken(api, developer, SCOPES, {
  expires_at: new Date(clock.now().getTime() + 1000).toISOString(),
});
clock.advance(1000);

const named = (some: readonly ContractOperation[]) =>
  some.map((operation) => [operation.operationId, operation] as const);
const guarded = operations.filter(({ bearer }) => bearer);
const ofDevelopers = guarded.filter(({ tokenKind }) => tokenKind === 'developer');
const ofResellers = guarded.filter(({ tokenKind }) => tokenKind === 'reseller');
const ofAgents = guarded.filter(({ tokenKind }) => tokenKind === 'agent');
const ofAdministrators = guarded.filter(({ tokenKind }) => tokenKind === 'administrator');
const ofSessions = operations.filter(({ tokenKind }) => tokenKind === 'session');

/** Sends a body, by default the contract's example, in the media type of its operation. */
const call = (
  { method, requestBody }: ContractOperation,
  headers: Record<string, string>,
  path: string,
  body: unknown = requestBody?.example,
): Promise<ApiResponse> =>
  api.call(method, path, body, {
    headers: { ...(requestBody && { 'content-type': requestBody.mediaType }), ...headers },
  });

/** Expects a refusal of the token. Refusals of session tokens have more specific codes. */
function expectRefused(response: ApiResponse, { tokenKind }: ContractOperation): void {
  expect(response.status).toBe(401);
  if (tokenKind !== 'session') {
    expect(response.body['code']).toBe('UNAUTHORIZED');
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
  } else {
    expect(['UNAUTHORIZED', 'SESSION_INVALID', 'SESSION_EXPIRED']).toContain(response.body['code']);
  }
}

test('all operations without a token are listed, and none of them is for developers', () => {
  const open = operations.filter(({ bearer }) => !bearer);
  expect(open.map(({ operationId }) => operationId).filter((id) => !OPEN.includes(id))).toEqual([]);
  const there = operations.map(({ path }) => path);
  const dev = open.map(({ path }) => path).filter((path) => path.startsWith('/api/v2/dev/'));
  const known = [
    'register',
    'login',
    'browser-sessions',
    'browser-session',
    'browser-session',
    'password-resets',
    'password-resets/complete',
  ];
  expect(dev).toEqual(known.map((name) => `/api/v2/dev/${name}`).filter((path) => there.includes(path)));
});

test('every kind of token is tested here', () => {
  const known = [undefined, 'developer', 'reseller', 'session', 'agent', 'administrator'];
  for (const { operationId, tokenKind } of operations) expect(known, operationId).toContain(tokenKind);
  expect(ofDevelopers.length).toBeGreaterThan(15);
  const tried = [
    ofDevelopers,
    ofResellers,
    ofAgents,
    ofAdministrators,
    ofSessions.filter(({ bearer }) => bearer),
  ];
  expect(tried.flat().length).toBe(guarded.length);
});

test("the administrator's operations are those below /admin/, and require no scope", () => {
  const below = operations.filter(({ path }) => path.startsWith('/api/v2/admin/'));
  expect(below.length).toBeGreaterThan(5);
  expect(ofAdministrators).toEqual(below);
  for (const { operationId, tokenKind, scopes, codes, responses } of ofAdministrators) {
    expect(tokenKind, operationId).toBe('administrator');
    expect(scopes, operationId).toEqual([]);
    expect(codes, operationId).not.toContain('INSUFFICIENT_SCOPE');
    expect(Object.keys(responses), operationId).toContain('401');
  }
});

test('operations with a token declare its statuses, codes and scopes', () => {
  for (const { operationId, tokenKind, scopes, codes, responses } of guarded) {
    if (tokenKind === 'session') continue;
    expect(codes, operationId).toContain('UNAUTHORIZED');
    expect(Object.keys(responses), operationId).toContain('401');
    const known: readonly string[] = tokenKind === 'agent' ? AGENT_SCOPES : SCOPES;
    expect(
      scopes.filter((scope) => !known.includes(scope)),
      operationId,
    ).toEqual([]);
    if (tokenKind === 'administrator') continue;
    // Every token can end itself.
    if (operationId === 'logoutDeveloper') continue;
    expect(scopes, operationId).toHaveLength(1);
    expect(codes, operationId).toContain('INSUFFICIENT_SCOPE');
    expect(Object.keys(responses), operationId).toContain('403');
  }
});

// Operations with payment refuse any other credential with the price, so they are not included.
describe.each(named(operations.filter(({ tokenKind }) => tokenKind !== undefined)))(
  '%s refuses other tokens',
  (_operationId, operation) => {
    const { token } = developer;
    const forSessions = operation.tokenKind === 'session';
    const forDevelopers = operation.tokenKind === 'developer';

    test.each<[string, Record<string, string>]>([
      ['without a token', {}],
      ['with an empty header', { authorization: '' }],
      ['with the scheme alone', { authorization: 'Bearer' }],
      ['with an empty token', { authorization: 'Bearer ' }],
      ['with another scheme', { authorization: `Basic ${token}` }],
      ['with a bare token', { authorization: token }],
      ['with two tokens', { authorization: `Bearer ${token}, Bearer ${token}` }],
      ['with a token and more after it', { authorization: `Bearer ${token} x` }],
      ['with a token in the query only', {}],
    ])('%s', async (how, headers) => {
      // Where a token is optional, a header without a token counts as no token.
      if (!operation.bearer) return;
      const path = examplePath(operation.path);
      const query = how.includes('query') ? `?access_token=${token}` : '';
      expectRefused(await call(operation, headers, path + query), operation);
    });

    test.each<[string, () => string | Promise<string>]>([
      ['nonsense', () => 'nonsense'],
      ['a token cut short', () => (forSessions ? live.token : token).slice(0, -1)],
      ['that of an expired session of a developer', () => expired.token],
      ['the application secret', () => app.secret],
      ["a sandbox's", () => sandbox.body.token],
      ['one with the algorithm none', () => withoutSignature(token)],
      ['an API token that was revoked', () => revoked.token],
      ['an API token that has expired', () => short.token],
      ["an agent's that has expired", () => expiredAgent],
      ['an API token that was never issued', () => `lkd_${randomBytes(32).toString('base64url')}`],
      ["a reseller's token that was never issued", () => `lkr_${randomBytes(32).toString('base64url')}`],
      ...(forSessions
        ? []
        : ([
            ["a user's signed token", () => live.token],
            ["a user's encrypted token", () => encrypted.session.token],
            ["a user's session id", () => live.session_id],
          ] as [string, () => string][])),
      ...(forDevelopers
        ? []
        : ([
            ["a developer's token", () => token],
            ['an API token', async () => (await newApiToken(api, developer, SCOPES)).token],
          ] as [string, () => string | Promise<string>][])),
      ...(operation.tokenKind === 'agent'
        ? []
        : ([["an agent's token", () => newAgentToken(api)]] as [string, () => Promise<string>][])),
      ...(operation.tokenKind === 'administrator'
        ? ([
            ["the administrator's, cut short", () => ADMINISTRATOR.token.slice(0, -1)],
            ["the administrator's, and more", () => `${ADMINISTRATOR.token}0`],
            ["the administrator's, in capitals", () => ADMINISTRATOR.token.toUpperCase()],
          ] as [string, () => string][])
        : ([["the administrator's token", () => ADMINISTRATOR.token]] as [string, () => string][])),
      ...(operation.tokenKind === 'reseller' || !hasResellers
        ? []
        : ([["a reseller's", () => resellerToken(owner, ['read', 'write'])]] as [
            string,
            () => Promise<string>,
          ][])),
    ])('%s', async (_how, make) => {
      const headers = { authorization: `Bearer ${await make()}` };
      expectRefused(await call(operation, headers, examplePath(operation.path)), operation);
    });

    test('before it validates the request', async () => {
      const authorization = { authorization: 'Bearer nonsense' };
      const path = examplePath(operation.path);
      const responses = [await call(operation, authorization, await locate(owner, operation.path))];
      if (takesJson(operation)) {
        responses.push(await call(operation, authorization, path, '{'));
        responses.push(await call(operation, authorization, path, {}));
      }
      for (const response of responses) {
        expectRefused(response, operation);
        expect(response.body).not.toHaveProperty('errors');
      }
    });
  },
);

/** The developer whose token is used: a disposable one for operations that end sessions. */
const makerFor = async ({ operationId }: ContractOperation) =>
  operationId === 'endDeveloperSessions' ? newDeveloper(api) : stranger.developer;

describe.each(named([...ofDevelopers, ...ofResellers]))('%s requires its scope', (_id, operation) => {
  const demanded = operation.scopes;

  test.each(SCOPES)('%s', async (scope) => {
    // The path is well-formed but does not exist, so an admitted request changes nothing.
    const path = examplePath(operation.path);
    let token: string;
    if (operation.tokenKind === 'developer')
      token = (await newApiToken(api, await makerFor(operation), [scope])).token;
    else if (scope === 'read' || scope === 'write') token = await resellerToken(stranger, [scope]);
    else return;
    const response = await call(operation, { authorization: `Bearer ${token}` }, path);
    if (demanded.every((each) => each === scope)) {
      expect(response.status).not.toBe(401);
      // The operation may refuse a scope in the body, but not its own.
      expect(response.body?.['scope']).not.toBe(demanded.join(' '));
      return;
    }
    expect(response.body).toMatchObject({
      status: 403,
      code: 'INSUFFICIENT_SCOPE',
      scope: demanded.join(' '),
    });
    expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    // Nothing else about the request is revealed.
    expect(response.body).not.toHaveProperty('errors');
  });

  test('and does not validate the body without it', async () => {
    if (demanded.length === 0 || !takesJson(operation)) return;
    const lacking = SCOPES.find((scope) => !demanded.includes(scope))!;
    const token =
      operation.tokenKind === 'developer'
        ? (await newApiToken(api, stranger.developer, [lacking])).token
        : await resellerToken(stranger, [lacking]);
    const response = await call(
      operation,
      { authorization: `Bearer ${token}` },
      examplePath(operation.path),
      '{',
    );
    expect(response.body).toMatchObject({ status: 403, code: 'INSUFFICIENT_SCOPE' });
  });
});

test('none of these requests changed anything', async () => {
  expect((await api.init(app.with({}))).status).toBe(200);
  const { body } = await api.call('GET', '/api/v2/dev/apps', undefined, { token: developer.token });
  expect(body['data']).toMatchObject([{ app_id: app.app_id, status_code: 'active', minimum_version: null }]);
});

describe.each(named(ofDevelopers.filter(({ path }) => path.includes('{'))))(
  '%s does not reveal whether a resource of another developer exists',
  (_operationId, operation) => {
    const headers = { authorization: `Bearer ${stranger.developer.token}` };
    const bodies: unknown[] = takesJson(operation)
      ? [
          operation.requestBody!.example,
          {},
          '{',
          { tier: 'None', amount: 1, duration_days: 1 },
          { status: 'active', paused: true },
        ]
      : [operation.requestBody?.example];

    async function expectNoDifference(foreignPath: string, absentPath: string): Promise<void> {
      for (const body of bodies) {
        const [foreign, absent] = [
          await call(operation, headers, foreignPath + queryOf(operation), body),
          await call(operation, headers, absentPath + queryOf(operation), body),
        ];
        expect(foreign.status).toBe(body === bodies[0] ? 404 : absent.status);
        expect(normalized(foreign, foreignPath)).toBe(normalized(absent, absentPath));
      }
    }

    test('by the first parameter of the path, such as the application', async () => {
      const path = await locate(owner, operation.path);
      const first = /\{(\w+)\}/.exec(operation.path)![1]!;
      const value = path.split('/')[operation.path.split('/').indexOf(`{${first}}`)]!;
      await expectNoDifference(path, path.replace(value, first === 'app_id' ? ABSENT : 'absent'));
    });

    test("in the caller's own application, by the last parameter of the path", async () => {
      const parts = operation.path.split('/');
      const last = parts.findLastIndex((part) => part.startsWith('{'));
      if (!operation.path.startsWith('/api/v2/dev/apps/{app_id}/') || parts[last] === '{app_id}') return;
      // Names have no owner: a missing resource is created.
      if (['{name}', '{file_name}'].includes(parts[last]!)) return;
      const absent = await locateAbsent(stranger, operation.path);
      const foreign = absent.split('/');
      foreign[last] = (await locate(owner, operation.path)).split('/')[last]!;
      await expectNoDifference(foreign.join('/'), absent);
    });
  },
);

test('the requests of the stranger did not change the application', async () => {
  const { body } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, developer);
  expect(body).toMatchObject({ status_code: 'active', minimum_version: null });
  for (const { path } of ofDevelopers.filter(({ method, path }) => method === 'GET' && path.endsWith('}'))) {
    const response = await api.call('GET', await locate(owner, path), undefined, developer);
    expect(response.status, path).toBe(200);
  }
  const bans = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/bans`, undefined, developer);
  const banPath = await locate(owner, '/api/v2/dev/apps/{app_id}/bans/{ban_id}');
  expect(bans.body['data']).toMatchObject([{ ban_id: banPath.split('/').at(-1) }]);
});

test('the owner is admitted everywhere', async () => {
  const other: Owner = await newOwner(api);
  for (const operation of guarded) {
    // It ends the token that is used.
    if (operation.operationId === 'logoutDeveloper') continue;
    const token = await tokenFor(other, operation);
    const response = await call(operation, { authorization: `Bearer ${token}` }, examplePath(operation.path));
    expect(response.status, operation.operationId).not.toBe(401);
    expect(response.body?.['code'], operation.operationId).not.toBe('INSUFFICIENT_SCOPE');
  }
});

test('operations without security do not refuse a missing token', async () => {
  for (const operation of operations.filter(({ bearer }) => !bearer)) {
    const headers = await pageHeaders(owner, operation);
    const plain = await call(operation, headers, await locate(owner, operation.path));
    expect(plain.body?.['code'], operation.operationId).not.toBe('UNAUTHORIZED');
  }
});

test('a session of another application is refused', async () => {
  const foreign = await sessionToken(stranger);
  for (const operation of ofSessions.filter(({ path }) => path.includes('{app_id}'))) {
    const response = await call(
      operation,
      { authorization: `Bearer ${foreign}` },
      await locate(owner, operation.path),
    );
    expect([401, 403, 404], operation.operationId).toContain(response.status);
  }
});

/** Status, headers and body as text, without what differs between any two requests. */
function normalized({ status, headers, body }: ApiResponse, path: string): string {
  const { request_id, timestamp, instance, ...rest } = body;
  expect(String(request_id)).toMatch(/^req_/);
  expect(timestamp).toBeDefined();
  expect(String(instance)).toBe(path);
  const names = [...headers].filter(
    ([name]) => !['x-request-id', 'date', 'keep-alive', 'content-length'].includes(name),
  );
  return JSON.stringify([status, names, rest]);
}

function withoutSignature(token: string): string {
  const header = Buffer.from('{"alg":"none","typ":"developer+jwt"}').toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
