import { afterAll, describe, expect, test } from 'vitest';
import { LEGACY_ERROR_JSON } from '../../src/http/transport/problem.ts';
import { sendRaw } from '../security/support/raw.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  ban,
  newApp,
  newDeveloper,
  newHwid,
  newNonce,
  newUser,
  signed,
  unique,
} from '../support/fixtures.ts';
import { spawnService, type ServiceProcess } from '../support/processes.ts';
import { MASTER_KEY } from '../support/service.ts';
import { operations } from './operations.ts';
import { examplePath } from './parameters.ts';

const DATABASE_URL = await createTestDatabase();
const METRICS_TOKEN = unique('metrics-token');
const settings = { DATABASE_URL, MASTER_KEY, METRICS_TOKEN };
const start = (LOG_LEVEL: string) => spawnService({ ...settings, LOG_LEVEL }, (cleanUp) => afterAll(cleanUp));

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const bearer = { authorization: `Bearer ${METRICS_TOKEN}`, accept: '*/*' };
const CHUNKED = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const HANDSHAKE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';

const INFO = 30;
const DEBUG = 20;

/** The lines about responses. */
function responses({ output }: ServiceProcess): Line[] {
  return output()
    .stderr.split('\n')
    .filter((text) => text.startsWith('{') && text.endsWith('}'))
    .map((text) => JSON.parse(text) as Line)
    .filter(({ msg }) => msg === 'response sent');
}

/** The line about one response. */
async function lineOf(service: ServiceProcess, headers: Headers): Promise<Line> {
  const find = () => responses(service).filter((line) => line['request_id'] === headers.get('x-request-id'));
  await expect.poll(() => find().length).toBe(1);
  return find()[0]!;
}

describe('at level info', async () => {
  const service = await start('info');
  const { api } = service;
  const app = await newApp(api);

  test('the path of a payment page is redacted', async () => {
    const { headers } = await fetch(`${api.baseUrl}/pay/cs_test_secret/receipt?x=1`);
    expect(await lineOf(service, headers)).toMatchObject({ path: '/pay/[redacted]/receipt' });
    expect(service.output().stderr).not.toContain('cs_test_secret');
  });

  test.each([
    ['/oauth/interaction/its-cookie', '/oauth/interaction/[redacted]'],
    ['/oauth/authorize/its-cookie', '/oauth/authorize/[redacted]'],
    ['/oauth/device/its-cookie', '/oauth/device/[redacted]'],
    ['/oauth/device/authorize', '/oauth/device/authorize'],
  ])('the path of a page that waits for a person is redacted: %s', async (address, path) => {
    const { headers } = await fetch(`${api.baseUrl}${address}`);
    expect(await lineOf(service, headers)).toMatchObject({ path });
    expect(service.output().stderr).not.toContain('its-cookie');
  });

  test('every refused request has one line with the caller, the request and the reason', async () => {
    const { headers } = await api.post('/api/v1/client/login', app.with({ username: 'ada' }));
    expect(await lineOf(service, headers)).toEqual({
      level: INFO,
      time: expect.any(String),
      request_id: headers.get('x-request-id'),
      method: 'POST',
      path: '/api/v1/client/login',
      operation: 'loginUser',
      address: '127.0.0.1',
      status: 400,
      code: 'VALIDATION_FAILED',
      msg: 'response sent',
    });
  });

  test('also for legacy clients and for requests without an operation', async () => {
    const legacy = await api.post('/api/v1/client/init', {}, { headers: { accept: LEGACY_ERROR_JSON } });
    expect(await lineOf(service, legacy.headers)).toMatchObject({ code: 'VALIDATION_FAILED', status: 400 });
    const method = await api.call('PUT', '/health');
    expect(await lineOf(service, method.headers)).toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      status: 405,
      path: '/health',
    });
  });

  test.each<[string, string, { status: number; operation?: string; [field: string]: unknown }, string?]>([
    ['no HTTP', 'garbage\r\n\r\n', { status: 400, code: 'MALFORMED_REQUEST' }],
    ['too many headers', `GET /health HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, { status: 431 }],
    ['another host', 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', { status: 405, method: 'CONNECT' }],
    [
      'a handshake without MQTT',
      `GET /mqtt HTTP/1.1\r\nHost: a\r\n${HANDSHAKE}`,
      { status: 400, method: 'GET', path: '/mqtt' },
    ],
    [
      'a chunk that is too large',
      `POST /api/v1/client/login HTTP/1.1\r\nHost: a\r\n${CHUNKED}40000\r\n`,
      { status: 413, method: 'POST', path: '/api/v1/client/login', operation: 'loginUser' },
    ],
    [
      'a chunk that is too large for a page',
      `POST /account/password HTTP/1.1\r\nHost: a\r\n${CHUNKED}40000\r\n`,
      { status: 413, method: 'POST', path: '/account/password' },
    ],
    [
      'a chunk that is too large for MCP',
      `POST /mcp HTTP/1.1\r\nHost: a\r\n${CHUNKED}40000\r\n`,
      { status: 413, method: 'POST', path: '/mcp' },
      'mcp',
    ],
  ])(
    'also if the connection is closed without a Node.js response: %s',
    async (_name, request, expected, label) => {
      const { status, operation = label ?? 'none' } = expected;
      const key = new RegExp(`_duration_seconds_count{operation="${operation}",status="${status}"} (\\d+)`);
      const counted = async () => {
        const response = await fetch(`${api.baseUrl}/metrics`, { headers: bearer });
        return Number(key.exec(await response.text())?.[1] ?? 0);
      };
      const before = await counted();
      const [response] = (await sendRaw(api.baseUrl, request)).responses;
      expect(await lineOf(service, response!.headers)).toMatchObject({
        ...expected,
        level: INFO,
        address: '127.0.0.1',
      });
      expect(await counted()).toBe(before + 1);
    },
  );

  test('has no query', async () => {
    const { headers } = await api.call('GET', '/api/v2/dev/apps?access_token=a-token');
    expect(await lineOf(service, headers)).toMatchObject({ path: '/api/v2/dev/apps', code: 'UNAUTHORIZED' });
    expect(service.output().stderr).not.toContain('a-token');
  });

  test('successful requests have no line', async () => {
    const { headers } = await api.init(app.with({}));
    const refused = await api.post('/api/v1/client/init', {});
    await lineOf(service, refused.headers);
    expect(responses(service).filter((line) => line['request_id'] === headers.get('x-request-id'))).toEqual(
      [],
    );
  });
});

test('at level warn, errors of clients are not logged', async () => {
  const service = await start('warn');
  await service.api.post('/api/v1/client/login', {});
  await service.api.call('GET', '/nowhere');
  expect(await service.end('SIGTERM')).toBe(0);
  expect(service.output().stderr).toBe('');
});

describe('at level debug', async () => {
  const service = await start('debug');
  const { api } = service;

  test('every response has a line, with the visible parts of request and response', async () => {
    const app = await newApp(api);
    const { headers } = await api.init(app.with({ version: '1.2.3' }));
    const line = await lineOf(service, headers);
    expect(line).toMatchObject({
      level: DEBUG,
      operation: 'initApplication',
      status: 200,
      request: { app_id: app.app_id, secret: '[redacted]', version: '1.2.3' },
      response: { status: 'success', status_code: 'active' },
    });
    expect(line).not.toHaveProperty('code');
    const refused = await api.init({ app_id: app.app_id, secret: 'wrong' });
    expect(await lineOf(service, refused.headers)).toMatchObject({
      level: INFO,
      request: { app_id: app.app_id, secret: '[redacted]' },
    });
    expect(await lineOf(service, refused.headers)).not.toHaveProperty('response');
  });

  test('the log contains no secret of any operation, however its members are spelled', async () => {
    const secrets = new Set<string>([METRICS_TOKEN, MASTER_KEY]);
    const keep = <Value extends string>(value: Value): Value => {
      secrets.add(value);
      return value;
    };
    const developer = await newDeveloper(api);
    keep(developer.token);
    keep(developer.password);
    const app = await newApp(api, developer);
    keep(app.secret);
    const user = await newUser(api, app, { password: keep(unique('password')), hwid: keep(newHwid()) });
    const [first, second, third] = (await app.keys(3)).map(keep) as [string, string, string];
    const login = (await api.login(app.with(user))).body;
    keep(login.token);
    keep(login.session_id);
    const v2 = signed(app, { app_id: app.app_id, ...user, nonce: newNonce() }, { at: new Date() });
    keep((await api.loginV2(...v2)).body.token);
    keep(v2[1]['x-signature']!);
    const machine = keep(newHwid());
    keep((await api.loginWithLicense({ app_id: app.app_id, license_key: first, hwid: machine })).body.token);
    await api.activate(app.with({ username: user.username, license_key: second }));
    await api.register(
      app.with({
        username: unique('user'),
        password: keep('12345678-secret'),
        hwid: machine,
        license_key: third,
      }),
    );
    const sandbox = (await api.sandbox({ app_id: 'sandbox', username: 'agent', hwid: machine })).body.token;
    keep(sandbox);
    await api.verifySandbox({ app_id: 'sandbox', token: sandbox, hwid: machine });
    keep((await api.init(app.with({}))).body['session_id'] as string);
    await ban(api, app, { kind: 'hardware', hwid: keep(newHwid()) });
    for (const token of [login.token, login.session_id]) {
      await api.verify({ app_id: app.app_id, token, hwid: user.hwid });
      await api.verifyV2({ app_id: app.app_id, token, nonce: newNonce() });
    }

    // Every operation gets all of them under names that are valid elsewhere, wrong, or in the wrong place.
    const word = keep(unique('typed-in'));
    const own = {
      app_id: app.app_id,
      secret: app.secret,
      password: user.password,
      hwid: user.hwid,
      token: login.token,
      session_token: login.session_id,
      license_key: second,
    };
    const bodies: unknown[] = [
      own,
      { ...own, pasword: word, Password: word, ' secret': word, secrets: [word], apiKey: word },
      {
        app_id: { secret: word },
        username: [word],
        reason: { a: word },
        name: { b: [word] },
        note: [[word]],
      },
      { user: { password: word }, [word]: 1, app_id: [{ token: word }] },
      [word, own],
      word,
      JSON.stringify(own).slice(0, -1),
      `{"secret":"${word}","secret":"${word}"}`,
      `{"secret":"${word}\\ud800"}`,
    ];
    for (const { method, path, requestBody } of operations) {
      // A DELETE that would remove what others need names a resource that does not exist.
      const example = examplePath(path);
      const url = method === 'DELETE' ? example : example.replace(/app_[0-9a-z]+/, app.app_id);
      // A disposable token for the operation that ends it.
      const acting = path === '/api/v2/dev/logout' ? keep((await newDeveloper(api)).token) : developer.token;
      for (const token of [acting, login.token, undefined]) {
        const sends = (requestBody ? bodies : [undefined]).map((body) => {
          const text = typeof body === 'string' && body.startsWith('{') ? body : JSON.stringify(body);
          return fetch(`${api.baseUrl}${url}?token=${login.token}&secret=${word}`, {
            method,
            headers: {
              ...(body !== undefined && { 'content-type': 'application/json' }),
              ...(token && { authorization: `Bearer ${token}` }),
              'x-signature': v2[1]['x-signature']!,
              cookie: `session=${word}`,
            },
            ...(text !== undefined && { body: text }),
          });
        });
        await Promise.all(sends);
        const headers = requestBody && { 'content-type': requestBody.mediaType };
        secretsIn((await api.call(method, url, requestBody?.example, { token, headers })).body).forEach(keep);
      }
    }
    await fetch(`${api.baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    await api.logout({ app_id: app.app_id, token: login.token });
    await api.logoutV2({ app_id: app.app_id, session_token: login.session_id });
    const last = await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, developer);
    await lineOf(service, last.headers);

    const { stdout, stderr } = service.output();
    const seen = new Set(responses(service).map((line) => line['operation']));
    expect([...seen].filter(Boolean).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
    const leaked = [...secrets].filter((secret) => stdout.includes(secret) || stderr.includes(secret));
    const where = stderr.split('\n').filter((line) => leaked.some((secret) => line.includes(secret)));
    expect({ leaked, where: where.slice(0, 3) }).toEqual({ leaked: [], where: [] });
  });
});

/** Secrets in a response, by the names of its members. */
function secretsIn(body: unknown): string[] {
  const found: string[] = [];
  JSON.stringify(body ?? null, (name, value: unknown) => {
    if (/^(.*_)?(secret|token|license_key)$/.test(name) && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}
