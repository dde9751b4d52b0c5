import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { DAY } from '../support/clock.ts';
import { ban, newApp, newDeveloper, newSession } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { operations, type ContractOperation } from './operations.ts';

/** What needs no bearer token. This list only ever shrinks: an operation of the developers' side never joins it. */
const OPEN = [
  'getHealth',
  'loginUserV2',
  'loginWithLicense',
  'verifySessionV2',
  'logoutUserV2',
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
];

const ABSENT = 'app_01kazm4q7ffx8v5t2w9y3b6n1c';

const service = await startTestService();
const { api, clock } = service;
const expired = await newDeveloper(api);
clock.advance(DAY);
const owner = await newDeveloper(api);
const stranger = await newDeveloper(api);
const app = await newApp(api, owner);
const session = await newSession(api, app);
const application = await service.services.applications.authenticate(app.app_id, app.secret);
const encrypted = await service.services.logins.withPassword(application, session.owner, 'encrypted', {
  address: '127.0.0.1',
});
const live = await newSession(api, app);
const banId = await ban(api, app, { kind: 'network', network: '203.0.113.7' });
const sandbox = await api.sandbox({ app_id: app.app_id, username: 'agent', hwid: 'machine' });

/** Where an operation is found for the application. */
const at = (path: string, appId: string = app.app_id) =>
  path.replace('{app_id}', appId).replace('{ban_id}', banId);

const guarded = operations.filter(({ bearer }) => bearer);
const scoped = guarded.filter(({ path }) => path.includes('{app_id}'));

const call = (
  { method, path, requestBody }: ContractOperation,
  headers: Record<string, string>,
  appId: string = app.app_id,
  body: unknown = requestBody?.example,
): Promise<Answer> => api.call(method, at(path, appId), body, { headers });

test('operations that need no token are those of the list', () => {
  expect(operations.filter(({ bearer }) => !bearer).map(({ operationId }) => operationId)).toEqual(OPEN);
});

test('what needs a token says so in its statuses and codes', () => {
  expect(guarded.length).toBeGreaterThan(0);
  for (const { operationId, codes, responses } of guarded) {
    expect(codes, operationId).toContain('UNAUTHORIZED');
    expect(Object.keys(responses), operationId).toContain('401');
  }
});

describe.each(guarded.map((operation) => [operation.operationId, operation] as const))(
  '%s answers UNAUTHORIZED with a challenge',
  (_operationId, operation) => {
    const { token } = owner;
    test.each<[string, Record<string, string>]>([
      ['without a token', {}],
      ['with an empty header', { authorization: '' }],
      ['with the scheme alone', { authorization: 'Bearer' }],
      ['with an empty token', { authorization: 'Bearer ' }],
      ['with nonsense', { authorization: 'Bearer nonsense' }],
      ['with another scheme', { authorization: `Basic ${token}` }],
      ['with a bare token', { authorization: token }],
      ['with two tokens', { authorization: `Bearer ${token}, Bearer ${token}` }],
      ['with a token and more behind it', { authorization: `Bearer ${token} x` }],
      ['with a token cut short', { authorization: `Bearer ${token.slice(0, -1)}` }],
      ['with a token in the query only', {}],
      ['with the token of an expired session', { authorization: `Bearer ${expired.token}` }],
      ["with a user's signed token", { authorization: `Bearer ${live.token}` }],
      ["with a user's encrypted token", { authorization: `Bearer ${encrypted.session.token}` }],
      ["with a user's session id", { authorization: `Bearer ${live.session_id}` }],
      ["with a sandbox's token", { authorization: `Bearer ${sandbox.body.token}` }],
      ['with the application secret', { authorization: `Bearer ${app.secret}` }],
      ['with the algorithm none', { authorization: `Bearer ${withoutSignature(token)}` }],
    ])('%s', async (how, headers) => {
      const answer = how.includes('query')
        ? await api.call(
            operation.method,
            `${at(operation.path)}?access_token=${token}`,
            operation.requestBody?.example,
          )
        : await call(operation, headers);
      expect(answer.status).toBe(401);
      expect(answer.body['code']).toBe('UNAUTHORIZED');
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /);
    });

    test('before anything about the request itself is said', async () => {
      const answers = [
        await call(operation, {}, ABSENT),
        ...(operation.requestBody
          ? [await call(operation, {}, app.app_id, '{'), await call(operation, {}, 'x', {})]
          : []),
      ];
      for (const answer of answers) {
        expect(answer.body).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
        expect(answer.body).not.toHaveProperty('errors');
      }
    });
  },
);

test('nothing of that changed anything', async () => {
  expect((await api.init(app.with({}))).status).toBe(200);
  const { body } = await api.call('GET', '/api/v2/dev/apps', undefined, { token: owner.token });
  expect(body['data']).toMatchObject([{ app_id: app.app_id, users: 2, minimum_version: null }]);
});

describe.each(scoped.map((operation) => [operation.operationId, operation] as const))(
  "%s tells another developer's application from an absent one by nothing",
  (_operationId, operation) => {
    const headers = { authorization: `Bearer ${stranger.token}` };

    test('not by its answer', async () => {
      const foreign = await call(operation, headers);
      const absent = await call(operation, headers, ABSENT);
      expect(foreign.status).toBe(404);
      expect(normalised(foreign, app.app_id)).toBe(normalised(absent, ABSENT));
    });

    test('not by what is wrong with the request', async () => {
      if (!operation.requestBody) return;
      const bodies: unknown[] = [
        {},
        '{',
        { tier: 'None', amount: 1, duration_days: 1 },
        { status: 'active', paused: true },
      ];
      for (const body of bodies) {
        const foreign = await call(operation, headers, app.app_id, body);
        const absent = await call(operation, headers, ABSENT, body);
        expect(normalised(foreign, app.app_id)).toBe(normalised(absent, ABSENT));
      }
    });
  },
);

test('the application is untouched by the stranger', async () => {
  const { body } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: owner.token });
  expect(body).toMatchObject({ status_code: 'active', minimum_version: null, users: 2 });
  const licenses = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/licenses`, undefined, {
    token: owner.token,
  });
  expect(licenses.body['data']).toEqual([]);
  const bans = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/bans`, undefined, {
    token: owner.token,
  });
  expect(bans.body['data']).toMatchObject([{ ban_id: banId }]);
});

test('every operation without security works without a token, or refuses by its own credentials', async () => {
  for (const operation of operations.filter(({ bearer }) => !bearer)) {
    const plain = await call(operation, {});
    expect(plain.body['code'], operation.operationId).not.toBe('UNAUTHORIZED');
  }
});

/** Status, headers and body as text, without what differs between any two requests. */
function normalised({ status, headers, body }: Answer, appId: string): string {
  const { request_id, timestamp, instance, ...rest } = body;
  expect(String(request_id)).toMatch(/^req_/);
  expect(timestamp).toBeDefined();
  expect(String(instance)).toContain(appId);
  const names = [...headers].filter(([name]) => !['x-request-id', 'date', 'keep-alive'].includes(name));
  return JSON.stringify([status, names, rest]);
}

function withoutSignature(token: string): string {
  const header = Buffer.from('{"alg":"none","typ":"developer+jwt"}').toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
