import { describe, expect, test } from 'vitest';
import { newDeveloper } from '../support/fixtures.ts';
import { startTestService, startWithLostDatabase } from '../support/service.ts';
import { connectAgent, LIST, send } from './client.ts';

const service = await startTestService({ WEB_URL: 'https://www.example.com' });
const { api, baseUrl } = service;
const { token } = await newDeveloper(api);
const authorization = `Bearer ${token}`;

const post = async (body: unknown, headers: Record<string, string> = {}) => {
  const response = await send(baseUrl, body, { authorization, ...headers });
  const text = await response.text();
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return {
    response,
    status: response.status,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
  };
};
const call = (params: unknown) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });

describe('refuses an invalid message', () => {
  test.each<[string, unknown, number, number]>([
    ['no JSON', '{', 400, -32_700],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32_700],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, -32_700],
    ['nothing', '', 400, -32_600],
    ['null', 'null', 400, -32_600],
    ['a text', '"ping"', 400, -32_600],
    ['a batch', [LIST, LIST], 400, -32_600],
    ['an empty batch', [], 400, -32_600],
    ['another version', { ...LIST, jsonrpc: '1.0' }, 400, -32_600],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32_600],
    ['an invalid id', { ...LIST, id: {} }, 400, -32_600],
    ['invalid parameters', { ...LIST, params: 1 }, 400, -32_600],
    ['more than 128 KiB', call({ name: 'x'.repeat(131_072) }), 413, -32_000],
    [
      'more than 5,000 members',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{${Array.from({ length: 5_000 }, (_, at) => `"m${at}":0`).join(',')}}}}`,
      413,
      -32_000,
    ],
    ['50,000 levels', '['.repeat(50_000) + ']'.repeat(50_000), 400, -32_600],
  ])('%s', async (_, sent, status, code) => {
    const refused = await post(sent);
    expect(refused.status).toBe(status);
    expect(refused.response.headers.get('content-type')).toBe('application/json');
    expect(refused.body).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code, message: expect.any(String) },
    });
  });

  test.each<[Record<string, string>, number]>([
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/json; charset=utf-16' }, 415],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    [{ accept: 'text/html' }, 406],
    [{ accept: 'text/event-stream' }, 406],
    [{ 'mcp-protocol-version': '1999-01-01' }, 400],
  ])('with %j', async (headers, status) => {
    const refused = await post(LIST, headers);
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } });
  });
});

test.each(['*/*', 'application/json', 'application/*, text/html;q=0.5'])(
  'a client that accepts %s gets a response',
  async (accept) => {
    expect((await post(LIST, { accept })).status).toBe(200);
  },
);

describe('JSON-RPC errors', () => {
  test.each<[string, object, number]>([
    ['a tool that does not exist', call({ name: 'constructor', arguments: {} }), -32_602],
    ['initialize without a version', { ...LIST, method: 'initialize', params: {} }, -32_602],
    ['a tool without a name', call({ arguments: {} }), -32_602],
    ['no parameters', call(undefined), -32_602],
    ['invalid arguments', call({ name: 'get_account', arguments: [] }), -32_602],
    ['a method that does not exist', { ...LIST, method: 'tools/none' }, -32_601],
    ['a method of an unsupported feature', { ...LIST, method: 'resources/list' }, -32_601],
  ])('%s', async (_, message, code) => {
    const { status, body } = await post(message);
    expect(status).toBe(200);
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(JSON.stringify(body)).not.toMatch(/\.ts\b|node_modules/);
  });
});

test('notifications and unexpected responses get no response', async () => {
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'none' },
    { jsonrpc: '2.0', id: 1, result: {} },
  ]) {
    const { status, body } = await post(message);
    expect({ status, body }).toEqual({ status: 202, body: undefined });
  }
});

test('a call that requests a task is a call, because tasks are not supported', async () => {
  const { body } = await post(call({ name: 'get_account', arguments: {}, task: { ttl: 1000 } }));
  expect(body).toMatchObject({ id: 7, result: { structuredContent: { status: 'success' } } });
});

test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
  'version %s can be negotiated',
  async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { response, body } = await post({
      jsonrpc: '2.0',
      id: 'first',
      method: 'initialize',
      params,
    });
    expect(body).toMatchObject({ id: 'first', result: { protocolVersion } });
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect((await post(LIST, { 'mcp-protocol-version': protocolVersion })).status).toBe(200);
  },
);

test('a request for another version gets our latest', async () => {
  const params = { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const { body } = await post({ ...LIST, method: 'initialize', params });
  expect(body).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
});

describe('other methods', () => {
  test.each(['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH'])(
    '%s is refused, because there are no sessions and streams',
    async (method) => {
      const response = await fetch(`${baseUrl}/mcp`, { method, headers: { authorization, accept: '*/*' } });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    },
  );

  test.each(['/mcp/', '/MCP', '//mcp', '/mcp/x'])('%s is another path', async (path) => {
    expect((await fetch(baseUrl + path, { method: 'POST' })).status).toBe(404);
  });
});

describe('pages of other origins', () => {
  test('may send requests, with a token', async () => {
    const response = await fetch(`${baseUrl}/mcp`, {
      method: 'OPTIONS',
      headers: { origin: 'https://agent.example', 'access-control-request-method': 'POST' },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    expect(response.headers.get('access-control-allow-methods')).toBe('POST');
    expect(response.headers.get('access-control-allow-headers')).toMatch(
      /Authorization.*Content-Type.*Mcp-Protocol-Version/,
    );
  });

  test('may read every response, and the authentication that it requires', async () => {
    for (const headers of [{ authorization }, {}]) {
      const response = await send(baseUrl, LIST, { ...headers, origin: 'https://agent.example' } as Record<
        string,
        string
      >);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    }
  });

  const port = new URL(baseUrl).port;
  test.each([
    ['none', undefined, undefined, 200],
    ['a page of another origin', 'https://agent.example', undefined, 200],
    ['a page of a file', 'null', undefined, 200],
    ['a page of a program', 'vscode-file://vscode-app', undefined, 200],
    ['our own page', baseUrl, undefined, 200],
    ['our own page at its name', 'https://www.example.com', 'www.example.com', 200],
    ['a page of this machine', `http://localhost:${port}`, `localhost:${port}`, 200],
    ['a page whose name resolves to this server', `http://evil.example:${port}`, `evil.example:${port}`, 403],
    ['the same in capitals', `http://evil.example:${port}`, `EVIL.example:${port}`, 403],
    ['the same at the usual port', 'http://evil.example', 'evil.example:80', 403],
    ['an invalid origin', 'nonsense', undefined, 403],
  ])('Origin: %s', async (_, origin, host, status) => {
    const { request } = await import('node:http');
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const headers = {
      authorization,
      accept: '*/*',
      'content-type': 'application/json',
      ...(origin !== undefined && { origin }),
      ...(host !== undefined && { host }),
    };
    request(`${baseUrl}/mcp`, { method: 'POST', headers }, (response) =>
      resolve(response.resume().statusCode!),
    )
      .on('error', reject)
      .end(JSON.stringify(LIST));
    expect(await promise).toBe(status);
  });
});

describe('metrics and logs', () => {
  const samples = async () => {
    const text = await (await fetch(`${baseUrl}/metrics`)).text();
    const counts = text.matchAll(
      /^latchkey_http_request_duration_seconds_count\{operation="(mcp|getAccount|getDeveloper|getUser)",status="(\d+)"\} (\d+)$/gm,
    );
    return Object.fromEntries(
      [...counts].map(([, operation, status, count]) => [`${operation} ${status}`, Number(count)]),
    );
  };

  test('a call counts for its operation with its result, everything else for MCP', async () => {
    const agent = await connectAgent(baseUrl, token);
    const before = await samples();
    await agent.call('get_account');
    await agent.call('get_user', { app_id: 'app_none', user_id: 'usr_none' });
    await post(LIST);
    await post('{');
    await send(baseUrl, LIST);
    const after = await samples();
    const grown = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
    expect(Object.fromEntries(grown.filter(([, count]) => count > 0))).toEqual({
      'getDeveloper 200': 1,
      'getUser 404': 1,
      'mcp 200': 1,
      'mcp 400': 1,
      'mcp 401': 1,
    });
  });
});

test('a lost database is an HTTP error, a 503 to retry', async () => {
  const broken = await startWithLostDatabase(service.databaseUrl);
  const response = await send(broken.baseUrl, LIST, { authorization });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.json()).toMatchObject({
    jsonrpc: '2.0',
    error: { code: -32_603, data: { code: 'SERVICE_UNAVAILABLE' } },
  });
});
