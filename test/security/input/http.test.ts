import { describe, expect, test } from 'vitest';
import { LEGACY_ERROR_JSON } from '../../../src/http/transport/problem.ts';
import { expectContract } from '../../support/exchange.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { responseValidators } from '../../support/response-validators.ts';
import { startTestService } from '../../support/service.ts';
import { expectRefusal, openRaw, sendRaw } from '../support/raw.ts';

const { api } = await startTestService();
const app = await newApp(api);
const session = await newSession(api, app);

const HOST = 'Host: localhost\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const verify = '/api/v1/client/verify-session';
const body = JSON.stringify({ app_id: app.app_id, token: session.token });
const length = `Content-Length: ${body.length}\r\n`;
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;

const post = (headers: string, content = body, target = verify) =>
  `POST ${target} HTTP/1.1\r\n${HOST}${headers}\r\n${content}`;
const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\n${HOST}${headers}\r\n`;

describe('paths that look like an operation', () => {
  test.each([
    '//health',
    '/health/',
    '/health//',
    '/./health',
    '/x/../health',
    '/%68ealth',
    '/health%20',
    '/health%00',
    '/health;a=b',
    '/health#x',
    '/HEALTH',
    '/health.json',
    '/health%2F',
    '/health%3Fx',
    '//api/v2/dev/apps',
    '/api//v2/dev/apps',
    '/api/v2/dev/apps/',
    '/api/v2/dev/apps//licenses',
    '/api/v2/dev%2Fapps',
    '/api/v2/%64ev/apps',
    '/api/v2/dev/apps/%2e%2e/apps',
    '/api/v2/dev/../dev/apps',
    '/api/v2/dev/apps;x',
    '/API/v2/dev/apps',
    '/%',
    '/%ZZ',
    '/%00',
    '/%C0%AF',
    '/%ED%A0%80',
    '/errors/%',
    '/errors/%ZZ',
    '/errors/%00',
    '/errors/%FF',
    '/errors//',
    '/errors/',
    '/errors/constructor',
    '/errors/__proto__',
    '/errors/NOT-FOUND',
    '/errors/not_found',
    '/errors/not%2Dfound%00',
    '/openapi.json/',
    '/openapi.JSON',
    '/index.html',
    '/..%2f..%2fetc/passwd',
    '//',
    '///',
    '//[',
    '//x:y@[/health',
    '/;',
    '/<script>alert(1)</script>',
    "/'",
    '/{}|^`',
  ])('GET %s is refused', async (target) => {
    const exchange = await sendRaw(api.baseUrl, get(target, `Authorization: Bearer ${app.token}\r\n`));
    expectRefusal(exchange, 'GET', '/no-operation');
  });

  test.each([`${verify}/`, `/${verify}`, '/api/v1/client/verify%2Dsession', `${verify};x`, `${verify}%20`])(
    'POST %s is refused',
    async (target) => {
      const exchange = await sendRaw(api.baseUrl, post(JSON_TYPE + length, body, target));
      expectRefusal(exchange, 'POST', '/no-operation');
    },
  );
});

test('two Authorization headers are refused, because another parser might use the other one', async () => {
  const two = `Authorization: Bearer ${app.token}\r\nauthorization: Bearer x\r\n`;
  const exchange = await sendRaw(api.baseUrl, get('/api/v2/dev/apps', two));
  expectRefusal(exchange, 'GET', '/no-operation');
});

describe('request targets', () => {
  test.each([
    'http://localhost/nothing',
    'http://',
    'http://[',
    'http://[::1',
    'http://a:b:c/nothing',
    'http://a:99999999/nothing',
    'http://%zz/nothing',
    'http://<script>alert(1)</script>/',
    'http://%ff/nothing',
    'https://localhost/health/x',
    'javascript://x',
    'x://',
    'file:///etc/passwd',
    '*',
    '?',
    'health',
    '\\health',
    'localhost:80',
  ])('GET %s is refused with a problem', async (target) => {
    expectRefusal(await sendRaw(api.baseUrl, get(target)), 'GET', '/no-operation');
  });

  test('the absolute form works for operations and pages alike, or for neither', async () => {
    const statuses = [];
    for (const target of ['/health', '/errors']) {
      const { responses } = await sendRaw(api.baseUrl, get(`http://localhost${target}`));
      statuses.push(responses[0]!.status);
    }
    expect(new Set(statuses).size, statuses.join()).toBe(1);
  });

  test('OPTIONS *', async () => {
    const exchange = await sendRaw(api.baseUrl, `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`);
    expectRefusal(exchange, 'OPTIONS', '/no-operation');
  });

  test('CONNECT gets a response, not a reset', async () => {
    const exchange = await sendRaw(api.baseUrl, `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`);
    expectRefusal(exchange, 'CONNECT', '/no-operation');
  });
});

describe('methods', () => {
  const targets = ['/health', verify, '/api/v2/dev/apps', `/api/v2/dev/apps/${app.app_id}`, '/', '/errors'];

  test.each(['TRACE', 'OPTIONS', 'PUT', 'PROPFIND', 'MKCOL', 'SEARCH', 'QUERY', 'PURGE', 'M-SEARCH', 'LINK'])(
    '%s gets 405 with the allowed methods',
    async (method) => {
      for (const target of targets) {
        const headers = `${HOST}Authorization: Bearer ${app.token}\r\nX-Secret: echo\r\n`;
        const exchange = await sendRaw(api.baseUrl, `${method} ${target} HTTP/1.1\r\n${headers}\r\n`);
        const body = expectRefusal(exchange, method, '/no-operation');
        expect(body.status, target).toBe(405);
        expect(body.headers.get('allow'), target).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
        expect(body.text).not.toContain('X-Secret');
      }
    },
  );

  test.each(['FOO', 'get', 'Get', 'G ET', 'GE\u0000T', 'POSTX', '', 'PRI'])(
    'the unknown method %j is refused',
    async (method) => {
      const exchange = await sendRaw(api.baseUrl, `${method} /health HTTP/1.1\r\n${HOST}\r\n`);
      expectRefusal(exchange, 'GET', '/no-operation');
    },
  );

  test('a header does not change the method', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
      const { status } = await api.call('POST', `/api/v2/dev/apps/${app.app_id}`, undefined, {
        token: app.token,
        headers: { [name]: 'DELETE' },
      });
      expect(status).toBe(405);
    }
  });

  test('HEAD gets the response of GET without a body, and nothing after it', async () => {
    for (const [target, status] of [
      ['/health', 200],
      ['/', 200],
      ['/nowhere', 404],
      ['/api/v2/dev/apps', 401],
      [verify, 405],
    ] as const) {
      const bytes = `HEAD ${target} HTTP/1.1\r\n${HOST}\r\n${get('/health')}`;
      const { responses, rest } = await sendRaw(api.baseUrl, bytes, 2, { bodiless: true });
      expect(responses.map((body) => body.status)).toEqual([status, 200]);
      expect(rest === '' || rest.startsWith('{"status":"success"'), rest.slice(0, 100)).toBe(true);
    }
  });

  test('a body on GET is neither read nor parsed as the next request', async () => {
    const hidden = get('/nowhere');
    const bytes = get('/health', `Content-Length: ${hidden.length}\r\n`) + hidden + get('/health');
    const { responses } = await sendRaw(api.baseUrl, bytes, 2);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('framing', () => {
  test.each([
    ['no Host', 'GET /health HTTP/1.1\r\n\r\n'],
    ['two Hosts', `GET /health HTTP/1.1\r\n${HOST}Host: other\r\n\r\n`],
    ['line feeds only', 'GET /health HTTP/1.1\nHost: x\n\n'],
    ['a folded header', get('/health', 'X: a\r\n b\r\n')],
    ['white space before a colon', get('/health', 'X : a\r\n')],
    ['a header without a name', get('/health', ': a\r\n')],
    ['a header without a colon', get('/health', 'abc\r\n')],
    ['NUL in a header', get('/health', 'X: a\0b\r\n')],
    ['carriage return in a header', get('/health', 'X: a\rY: b\r\n')],
    ['an unknown version', `GET /health HTTP/9.9\r\n${HOST}\r\n`],
    ['a version in words', `GET /health HTTP/x\r\n${HOST}\r\n`],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', Buffer.from('16030100050100000103030000', 'hex')],
    ['a letter beyond ASCII in the target', Buffer.from(get('/é'))],
    ['a header of 20 kB', get('/health', `X: ${'a'.repeat(20_000)}\r\n`)],
    ['3,000 headers', get('/health', 'a:b\r\n'.repeat(3_000))],
    ['an address of 20 kB', get(`/${'a'.repeat(20_000)}`)],
    ['a query of 20 kB', get(`/health?${'a'.repeat(20_000)}`)],
    ['length and chunks', post(`${JSON_TYPE}${length}Transfer-Encoding: chunked\r\n`, '0\r\n\r\n')],
    ['chunks and length', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n${length}`, '0\r\n\r\n')],
    ['two lengths', post(`${JSON_TYPE}${length}Content-Length: 5\r\n`)],
    ['the same length twice', post(JSON_TYPE + length + length)],
    ['a list of lengths', post(`${JSON_TYPE}Content-Length: ${body.length}, ${body.length}\r\n`)],
    ['a negative length', post(`${JSON_TYPE}Content-Length: -1\r\n`)],
    ['a signed length', post(`${JSON_TYPE}Content-Length: +${body.length}\r\n`)],
    ['a hexadecimal length', post(`${JSON_TYPE}Content-Length: 0x10\r\n`)],
    ['a length in words', post(`${JSON_TYPE}Content-Length: ten\r\n`)],
    ['a length beyond 2^53', post(`${JSON_TYPE}Content-Length: 9007199254740993\r\n`)],
    ['a length beyond 2^64', post(`${JSON_TYPE}Content-Length: 99999999999999999999999\r\n`)],
    ['chunks that are not last', post(`${JSON_TYPE}Transfer-Encoding: chunked, identity\r\n`, chunk)],
    ['chunks twice', post(`${JSON_TYPE}Transfer-Encoding: chunked, chunked\r\n`, `${chunk}0\r\n\r\n`)],
    ['gzip and chunks', post(`${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n`, `${chunk}0\r\n\r\n`)],
    ['gzip without chunks', post(`${JSON_TYPE}Transfer-Encoding: gzip\r\n`)],
    ['identity', post(`${JSON_TYPE}Transfer-Encoding: identity\r\n`)],
    ['a misspelled coding', post(`${JSON_TYPE}Transfer-Encoding: xchunked\r\n`, `${chunk}0\r\n\r\n`)],
    [
      'chunks in HTTP/1.0',
      `POST ${verify} HTTP/1.0\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n`,
    ],
    ['a bad size of the first chunk', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, 'zz\r\n')],
    ['a bad size of the second chunk', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, `${chunk}zz\r\n`)],
    ['a negative chunk', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, '-1\r\n')],
    ['an endless chunk', post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, `${'f'.repeat(17)}\r\n`)],
    [
      'a chunk extension of 20 kB',
      post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, `1;${'a'.repeat(20_000)}\r\n`),
    ],
    [
      'a trailer of 20 kB',
      post(`${JSON_TYPE}Transfer-Encoding: chunked\r\n`, `${chunk}0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
    ],
    ['two media types', post(`${JSON_TYPE}Content-Type: text/plain\r\n${length}`)],
    ['two media types, the wrong one first', post(`Content-Type: text/plain\r\n${JSON_TYPE}${length}`)],
    ['two encodings', post(`${JSON_TYPE}${length}Content-Encoding: identity\r\nContent-Encoding: gzip\r\n`)],
    [
      'two different credentials',
      get('/api/v2/dev/apps', `Authorization: Basic eDp5\r\nAuthorization: Bearer ${app.token}\r\n`),
    ],
  ])('%s is refused with a problem', async (name, bytes) => {
    const exchange = await sendRaw(api.baseUrl, bytes);
    const body = expectRefusal(exchange, 'GET', '/no-operation');
    expect(body.headers.get('x-request-id'), name).toMatch(/^req_/);
    expect(exchange.responses).toHaveLength(1);
  });

  test.each([
    ['HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n'],
    ['empty lines first', `\r\n\r\n${get('/health')}`],
    ['an upgrade that is not supported', get('/health', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')],
    [
      'an upgrade to HTTP/2',
      get('/health', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n'),
    ],
    ['headers of the prototype', get('/health', '__proto__: x\r\nconstructor: y\r\n__proto__: z\r\n')],
    ['an unknown expectation', get('/health', 'Expect: the-unexpected\r\n')],
    ['a query that is ignored', get('/health?%')],
    [
      'trailers',
      post(
        `${JSON_TYPE}Transfer-Encoding: chunked\r\n`,
        `${chunk}0\r\n__proto__: x\r\ncontent-length: 9\r\n\r\n`,
      ),
    ],
    [
      'one byte a chunk',
      post(
        `${JSON_TYPE}Transfer-Encoding: chunked\r\n`,
        `${[...body].map((c) => `1\r\n${c}\r\n`).join('')}0\r\n\r\n`,
      ),
    ],
  ])('%s does no harm', async (name, bytes) => {
    const { responses, milliseconds } = await sendRaw(api.baseUrl, bytes);
    expect(milliseconds).toBeLessThan(5_000);
    expect(responses, name).toHaveLength(1);
    expect(responses[0]!.status, name).toBeLessThan(500);
    expectContract({ method: 'GET', path: '/no-operation', ...responses[0]! });
  });

  test('incomplete bodies are waited for, and closing their connections does no harm', async () => {
    const bytes = `POST ${verify} HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 5000\r\n\r\n{"a"`;
    const waiting = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const connection = await openRaw(api.baseUrl);
        await new Promise((resolve) => connection.socket.write(bytes, resolve));
        return connection;
      }),
    );
    expect((await api.call('GET', '/health')).status).toBe(200);
    expect(waiting.map(({ received }) => received()).join('')).toBe('');
    for (const { socket } of waiting) socket.destroy();
    expect((await api.call('GET', '/health')).status).toBe(200);
  });

  test('Expect: 100-continue is supported', async () => {
    const { responses } = await sendRaw(api.baseUrl, post(`${JSON_TYPE}${length}Expect: 100-continue\r\n`));
    expect(responses.map(({ status }) => status)).toEqual([200]);
  });
});

describe('pipelined requests', () => {
  const valid = post(JSON_TYPE + length);
  const wrong = JSON.stringify({ app_id: app.app_id, token: 'x'.repeat(22) });
  const invalid = post(`${JSON_TYPE}Content-Length: ${wrong.length}\r\n`, wrong);

  test('each gets its own response, in order', async () => {
    const order = [valid, invalid, get('/nowhere'), valid, get('/'), invalid, valid, get('/health')];
    const { responses } = await sendRaw(api.baseUrl, order.join(''), order.length);
    expect(responses.map(({ status }) => status)).toEqual([200, 401, 404, 200, 200, 401, 200, 200]);
  });

  test('garbage after a valid request does not change its response', async () => {
    for (const first of [valid, get('/health')]) {
      const { responses } = await sendRaw(api.baseUrl, `${first}GARBAGE\r\n\r\n`, 2);
      // Either both get responses in order, or the connection ends.
      if (responses.length > 0) expect(responses[0]!.status).toBe(200);
    }
  });

  test('a refused body is not parsed as the next request', async () => {
    const hidden = get('/health');
    const bytes =
      post(`Content-Type: text/plain\r\nContent-Length: ${hidden.length}\r\n`, hidden) + get('/nowhere');
    const { responses } = await sendRaw(api.baseUrl, bytes, 2);
    expect(responses.map(({ status }) => status)).toEqual([415, 404]);
  });
});

describe('the Accept header', () => {
  test.each([
    '*/*',
    'application/*',
    'application/problem+json',
    'text/html, */*;q=0.1',
    'APPLICATION/PROBLEM+JSON',
  ])('%j gets problem details', async (accept) => {
    const { headers } = await api.call('POST', verify, {}, { headers: { accept } });
    expect(headers.get('content-type')).toBe('application/problem+json');
  });

  test.each([
    'application/json',
    'text/html',
    'application/problem+json;q=0',
    '*/*;q=0',
    'a/b,'.repeat(2_000),
    `${LEGACY_ERROR_JSON};q=0;`.repeat(200),
    'application/json;'.repeat(500),
    ',,,',
    'x',
    '\u00ff/\u00ff',
    'constructor',
    '__proto__/__proto__',
    ';q=',
    'a/b;q=NaN',
    '"',
  ])('%j gets problem details at once', async (accept) => {
    const started = performance.now();
    const response = await fetch(api.baseUrl + verify, {
      method: 'POST',
      headers: { accept, 'content-type': 'application/json' },
      body: '{}',
    });
    const body: unknown = await response.json();
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(body).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    const validate = responseValidators['verifySession']!['4XX']!['application/problem+json']!;
    expect(validate(body) || validate.errors).toBe(true);
  });
});
