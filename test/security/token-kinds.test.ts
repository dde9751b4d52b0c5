import { describe, expect, test } from 'vitest';
import { sign } from '../concurrency/signed.ts';
import type { ApiResponse, CallOptions } from '../support/api.ts';
import { newApp, newDeveloper, newNonce, newSession, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
const { api, clock } = service;
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const { app_id } = app;
const signed = await newSession(api, app);
const user = await newUser(api, app);
const [licenseKey] = await app.keys(1);
const post = (path: string, body: object) => api.post<{ token: string }>(path, body);
const login = sign(app, { ...user, nonce: newNonce() }, clock.now().getTime());
const encrypted = await api.post<{ token: string }>('/api/v2/client/login', login.text, {
  headers: login.headers,
});
const licensed = await post('/api/v2/client/login-license', {
  app_id,
  license_key: licenseKey,
  hwid: 'machine',
});
const init = await api.init(app.with({}));
// The sandbox accepts any app_id, including a real one.
const sandbox = await post('/api/v1/sandbox/auth', { app_id, username: user.username, hwid: user.hwid });

/** Every kind of token, and values that could be mistaken for one. */
const KINDS: Readonly<Record<string, string>> = {
  'signed token': signed.token,
  'session id': signed.session_id,
  'encrypted token': encrypted.body.token,
  'encrypted token of a license': licensed.body.token,
  'sandbox token': sandbox.body.token,
  'developer token': developer.token,
  'id of a handshake': String(init.body['session_id']),
  'request id': encrypted.headers.get('x-request-id')!,
  secret: app.secret,
  'license key': licenseKey!,
  'signature of a response': String((encrypted.body as unknown as { signature: string }).signature),
};
const SESSIONS = ['signed token', 'session id', 'encrypted token', 'encrypted token of a license'];

interface Place {
  readonly place: string;
  readonly takes: readonly string[];
  readonly send: (token: string) => Promise<ApiResponse>;
}

const withBody = (place: string, path: string, takes: readonly string[]): Place => ({
  place,
  takes,
  send: (token) => api.post(path, { app_id, token }),
});
const withSignature = (place: string, path: string, name: string, takes: readonly string[]): Place => ({
  place,
  takes,
  send: (token) => {
    const { text, headers } = sign(app, { [name]: token, nonce: newNonce() }, clock.now().getTime());
    return api.post(path, text, { headers });
  },
});
const bearer = (place: string, method: string, path: string, body?: object): Place => ({
  place,
  takes: ['developer token'],
  send: (token) => api.call(method, path, body, { token } satisfies CallOptions),
});

const own = `/api/v2/dev/apps/${app_id}`;
const places: readonly Place[] = [
  withBody('verify-session of v1', '/api/v1/client/verify-session', SESSIONS),
  withBody('verify-session of v2', '/api/v2/client/verify-session', SESSIONS),
  withSignature('signed verify-session', '/api/v2/client/verify-session', 'token', SESSIONS),
  withBody('verify-session of the sandbox', '/api/v1/sandbox/verify-session', ['sandbox token']),
  bearer('list of applications', 'GET', '/api/v2/dev/apps'),
  bearer('application', 'GET', own),
  bearer('change of an application', 'PATCH', own, { name: 'App' }),
  bearer('licenses', 'GET', `${own}/licenses`),
  bearer('new licenses', 'POST', `${own}/licenses`, { amount: 1, duration_days: 1, tier: 'Pro' }),
  bearer('bans', 'GET', `${own}/bans`),
  bearer('new ban', 'POST', `${own}/bans`, { kind: 'network', network: '203.0.113.0/24' }),
  // Last, because it ends sessions. The session id is of the signed token's session, which has ended by then.
  withSignature('signed logout', '/api/v2/client/logout', 'session_token', [
    'signed token',
    'encrypted token',
    'encrypted token of a license',
  ]),
  withBody('logout of v2', '/api/v2/client/logout', []),
  withBody('logout of v1', '/api/v1/client/logout', []),
];

describe.each(places)('$place', ({ takes, send }) => {
  test('accepts its own kinds of tokens and no other', async () => {
    for (const [kind, token] of Object.entries(KINDS)) {
      const { status, body } = await send(token);
      if (takes.includes(kind)) expect([200, 201], kind).toContain(status);
      else {
        const code = body['code'];
        expect({ status, known: ['SESSION_INVALID', 'UNAUTHORIZED'].includes(String(code)) }, kind).toEqual({
          status: 401,
          known: true,
        });
      }
    }
  });
});

test('the refusal of a token has a challenge, wherever the token was sent', async () => {
  const refused = await api.call('GET', '/api/v2/dev/apps', undefined, { token: KINDS['sandbox token'] });
  expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
  const session = await api.verify({ app_id, token: developer.token });
  expect(session.status).toBe(401);
  expect(session.headers.get('www-authenticate')).toMatch(/^Bearer realm="latchkey", resource_metadata="/);
});
