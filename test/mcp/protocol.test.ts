import { describe, expect, test } from 'vitest';
import { newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { connectAgent, LIST, send } from './client.ts';

const service = await startTestService({ WEB_URL: 'https://www.example.com' });
const { api, baseUrl } = service;
const { token } = await newDeveloper(api);
const authorization = `Bearer ${token}`;

const ask = async (body: unknown, headers: Record<string, string> = {}) => {
  const answer = await send(baseUrl, body, { authorization, ...headers });
  const text = await answer.text();
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return { answer, status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
};
const call = (params: unknown) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });

describe('a message that is none is refused', () => {
  test.each<[string, unknown, number, number]>([
    ['no JSON', '{', 400, -32_700],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32_700],
    ['bytes that are no UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, -32_700],
    ['nothing', '', 400, -32_600],
    ['null', 'null', 400, -32_600],
    ['a text', '"ping"', 400, -32_600],
    ['a batch', [LIST, LIST], 400, -32_600],
    ['an empty batch', [], 400, -32_600],
    ['another version', { ...LIST, jsonrpc: '1.0' }, 400, -32_600],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32_600],
    ['an id that is none', { ...LIST, id: {} }, 400, -32_600],
    ['parameters that are none', { ...LIST, params: 1 }, 400, -32_600],
    ['more than 128 KiB', call({ name: 'x'.repeat(131_072) }), 413, -32_000],
    [
      'more than 5,000 members',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{${Array.from({ length: 5_000 }, (_, at) => `"m${at}":0`).join(',')}}}}`,
      413,
      -32_000,
    ],
    ['50,000 levels', '['.repeat(50_000) + ']'.repeat(50_000), 400, -32_600],
  ])('%s', async (_, sent, status, code) => {
    const refused = await ask(sent);
    expect(refused.status).toBe(status);
    expect(refused.answer.headers.get('content-type')).toBe('application/json');
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
    const refused = await ask(LIST, headers);
    expect(refused.status).toBe(status);
    expect(refused.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_000 } });
  });
});

test.each(['*/*', 'application/json', 'application/*, text/html;q=0.5'])(
  'a client that takes %s is answered',
  async (accept) => {
    expect((await ask(LIST, { accept })).status).toBe(200);
  },
);

describe('what JSON-RPC has an error for is one', () => {
  test.each<[string, object, number]>([
    ['a tool that does not exist', call({ name: 'constructor', arguments: {} }), -32_602],
    ['a beginning without a version', { ...LIST, method: 'initialize', params: {} }, -32_602],
    ['a tool without a name', call({ arguments: {} }), -32_602],
    ['no parameters', call(undefined), -32_602],
    ['arguments that are none', call({ name: 'get_account', arguments: [] }), -32_602],
    ['a method that does not exist', { ...LIST, method: 'tools/none' }, -32_601],
    ['a method of what is not offered', { ...LIST, method: 'resources/list' }, -32_601],
  ])('%s', async (_, message, code) => {
    const { status, body } = await ask(message);
    expect(status).toBe(200);
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(JSON.stringify(body)).not.toMatch(/\.ts\b|node_modules/);
  });
});

test('a notification and an answer that nobody waits for have no answer', async () => {
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { jsonrpc: '2.0', method: 'none' },
    { jsonrpc: '2.0', id: 1, result: {} },
  ]) {
    const { status, body } = await ask(message);
    expect({ status, body }).toEqual({ status: 202, body: undefined });
  }
});

test('a call that asks for a task is a call: tasks are not offered', async () => {
  const { body } = await ask(call({ name: 'get_account', arguments: {}, task: { ttl: 1000 } }));
  expect(body).toMatchObject({ id: 7, result: { structuredContent: { status: 'success' } } });
});

test.each(['2025-11-25', '2025-06-18', '2025-03-26'])(
  'version %s can be agreed on',
  async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { answer, body } = await ask({ jsonrpc: '2.0', id: 'first', method: 'initialize', params });
    expect(body).toMatchObject({ id: 'first', result: { protocolVersion } });
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect((await ask(LIST, { 'mcp-protocol-version': protocolVersion })).status).toBe(200);
  },
);

test('another version than ours is answered with ours', async () => {
  const params = { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const { body } = await ask({ ...LIST, method: 'initialize', params });
  expect(body).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
});

describe('other methods', () => {
  test.each(['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH'])(
    '%s is not taken: there are no sessions and streams',
    async (method) => {
      const answer = await fetch(`${baseUrl}/mcp`, { method, headers: { authorization, accept: '*/*' } });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST');
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    },
  );

  test.each(['/mcp/', '/MCP', '//mcp', '/mcp/x'])('%s is another address', async (path) => {
    expect((await fetch(baseUrl + path, { method: 'POST' })).status).toBe(404);
  });
});

describe('pages of others', () => {
  test('may ask, with a token', async () => {
    const answer = await fetch(`${baseUrl}/mcp`, {
      method: 'OPTIONS',
      headers: { origin: 'https://agent.example', 'access-control-request-method': 'POST' },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-allow-methods')).toBe('POST');
    expect(answer.headers.get('access-control-allow-headers')).toMatch(
      /Authorization.*Content-Type.*Mcp-Protocol-Version/,
    );
  });

  test('may read every answer, and what it asks of them', async () => {
    for (const headers of [{ authorization }, {}]) {
      const answer = await send(baseUrl, LIST, { ...headers, origin: 'https://agent.example' } as Record<
        string,
        string
      >);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
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
    ['a page whose name leads here', `http://evil.example:${port}`, `evil.example:${port}`, 403],
    ['the same in capitals', `http://evil.example:${port}`, `EVIL.example:${port}`, 403],
    ['the same at the usual port', 'http://evil.example', 'evil.example:80', 403],
    ['what is no origin', 'nonsense', undefined, 403],
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
    request(`${baseUrl}/mcp`, { method: 'POST', headers }, (answer) => resolve(answer.resume().statusCode!))
      .on('error', reject)
      .end(JSON.stringify(LIST));
    expect(await promise).toBe(status);
  });
});

describe('what is watched', () => {
  const samples = async () => {
    const text = await (await fetch(`${baseUrl}/metrics`)).text();
    const counts = text.matchAll(
      /^latchkey_http_request_duration_seconds_count\{operation="(mcp|getAccount|getDeveloper|getUser)",status="(\d+)"\} (\d+)$/gm,
    );
    return Object.fromEntries(
      [...counts].map(([, operation, status, count]) => [`${operation} ${status}`, Number(count)]),
    );
  };

  test('a call counts for its operation, with what became of it; everything else for MCP', async () => {
    const agent = await connectAgent(baseUrl, token);
    const before = await samples();
    await agent.call('get_account');
    await agent.call('get_user', { app_id: 'app_none', user_id: 'usr_none' });
    await ask(LIST);
    await ask('{');
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

test('a lost database is no answer of MCP: 503, to be tried again', async () => {
  const broken = await startTestService({ DATABASE_URL: service.databaseUrl });
  await broken.database.close();
  const answer = await send(broken.baseUrl, LIST, { authorization });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await answer.json()).toMatchObject({
    jsonrpc: '2.0',
    error: { code: -32_603, data: { code: 'SERVICE_UNAVAILABLE' } },
  });
});
