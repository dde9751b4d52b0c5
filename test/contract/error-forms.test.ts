import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PAGE_ROUTES } from '../../src/http/pages/pages.ts';
import { openRaw, sendRaw, type RawResponse } from '../security/support/raw.ts';
import { startServiceBehindProxy } from '../faults/service-behind-proxy.ts';
import { newApp } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const DEADLINE_MS = 400;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const { api, proxy } = await startServiceBehindProxy(DEADLINE_MS);
const patient = await startTestService();
const app = await newApp(patient.api);

type Form = 'problem' | 'oauth' | 'page' | 'rpc';

/** Endpoints of the authorization server that programs call (RFC 6749, section 5.2). */
const FOR_PROGRAMS = [
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/userinfo',
  '/oauth/register',
  '/oauth/device/authorize',
  '/.well-known/jwks.json',
];
const FOR_PEOPLE = /^\/(oauth|account|agent\/claim|pay)\//;

function formAt(path: string): Form {
  if (path === '/mcp') return 'rpc';
  if (FOR_PROGRAMS.includes(path)) return 'oauth';
  return FOR_PEOPLE.test(path) ? 'page' : 'problem';
}

/** Expects that an error response has the format for its path. */
function expectForm(
  response: Pick<RawResponse, 'status' | 'headers' | 'text'>,
  form: Form,
  what: string,
): void {
  const { status, headers, text } = response;
  expect(status, what).toBeGreaterThanOrEqual(400);
  expect(headers.get('cache-control'), what).toBe('no-store');
  expect(headers.get('x-request-id'), what).toMatch(/^req_/);
  const type = headers.get('content-type') ?? '';
  if (form === 'page') {
    expect(type, what).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy'), what).toContain("default-src 'none'");
    expect(text, what).toMatch(/^<!doctype html>[^]*<h1>[^<]+<\/h1>[^]*<\/html>\s*$/);
    return;
  }
  const body = JSON.parse(text) as Record<string, unknown>;
  if (form === 'problem') {
    expect(type, what).toBe('application/problem+json');
    expect(body, what).toMatchObject({ status, code: expect.any(String), request_id: expect.any(String) });
    return;
  }
  expect(type, what).toMatch(/^application\/json(;|$)/);
  expect(headers.get('access-control-allow-origin'), what).toBe('*');
  if (form === 'rpc') {
    expect(body, what).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: expect.any(Number),
        message: expect.any(String),
        data: expect.objectContaining({ status }),
      },
    });
  } else {
    expect(body, what).toEqual({ error: expect.any(String), error_description: expect.any(String) });
  }
}

const routes = [...PAGE_ROUTES, '/mcp'];
const pathOf = (route: string) =>
  route
    .replace(':session', `cs_test_${'a'.repeat(32)}`)
    .replace(':view', 'a'.repeat(43))
    .replaceAll(/:\w+/g, 'x');
const paths = routes.map(pathOf);

const head = (method: string, path: string, type: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.token}\r\n` +
  `Content-Type: ${type}\r\n${more}\r\n`;

/** Requests that are invalid on any path. Without a status, it depends on the path. */
const UNREADABLE: readonly (readonly [string, number | undefined, (path: string, type: string) => string])[] =
  [
    ['two Host headers', 400, (path, type) => head('POST', path, type, 'Host: other\r\n')],
    [
      'an unknown transfer coding',
      400,
      (path, type) => head('POST', path, type, 'Transfer-Encoding: gzip, chunked\r\n'),
    ],
    [
      'a chunk over every limit',
      413,
      (path, type) => `${head('POST', path, type, 'Transfer-Encoding: chunked\r\n')}ffffffffffffffff\r\n`,
    ],
    [
      'a malformed chunk',
      undefined,
      (path, type) => `${head('POST', path, type, 'Transfer-Encoding: chunked\r\n')}2\r\n{}ZZ\r\n`,
    ],
    ['a long body', undefined, (path, type) => head('POST', path, type, 'Content-Length: 9000000000\r\n')],
    [
      'another media type',
      undefined,
      (path) => `${head('POST', path, 'text/plain', 'Content-Length: 1\r\n')}a`,
    ],
    [
      'an encoded body',
      undefined,
      (path, type) => `${head('POST', path, type, 'Content-Encoding: gzip\r\nContent-Length: 1\r\n')}a`,
    ],
    ['an unsupported method', undefined, (path, type) => head('PROPFIND', path, type)],
  ];

describe('invalid requests are refused in the format of their path', () => {
  test.each(UNREADABLE)('%s', async (what, expected, bytes) => {
    await Promise.all(
      paths.map(async (path) => {
        const type = path === '/mcp' || path === '/oauth/register' ? JSON_TYPE : FORM;
        const { responses } = await sendRaw(patient.baseUrl, bytes(path, type));
        const name = `${what} to ${path}`;
        expect(responses, name).toHaveLength(1);
        const [response] = responses;
        if (expected !== undefined) expect(response!.status, name).toBe(expected);
        // MCP refuses other methods like the API, because there is no message to respond to.
        const form = path === '/mcp' && response!.status === 405 ? 'problem' : formAt(path);
        expectForm(response!, form, name);
      }),
    );
  });

  test('an incomplete body', async () => {
    for (const path of ['/oauth/token', '/oauth/register', '/mcp', '/account/password', '/oauth/device']) {
      const type = path === '/mcp' || path === '/oauth/register' ? JSON_TYPE : FORM;
      const { socket, responses } = await openRaw(patient.baseUrl);
      socket.end(`${head('POST', path, type, 'Content-Length: 9\r\n')}{`);
      await once(socket, 'end');
      expect(
        responses().map(({ status }) => status),
        path,
      ).toEqual([400]);
      expectForm(responses()[0]!, formAt(path), path);
    }
  });

  test('garbage without a request gets problem details', async () => {
    const { responses } = await sendRaw(patient.baseUrl, 'garbage\r\n\r\n');
    expectForm(responses[0]!, 'problem', 'garbage');
  });
});

const basic = `Basic ${Buffer.from('cli_00000000000000000000000000:secret').toString('base64')}`;
const bearer = `Bearer ${app.token}`;
const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const view = 'a'.repeat(43);
const session = `cs_test_${'a'.repeat(32)}`;

/** Requests that need the database, for each kind of path. */
const LATE: readonly (readonly [string, string, { body?: string; authorization?: string }])[] = [
  ['POST', '/oauth/token', { body: 'grant_type=client_credentials', authorization: basic }],
  ['POST', '/oauth/revoke', { body: 'token=a', authorization: basic }],
  ['POST', '/oauth/introspect', { body: 'token=a', authorization: basic }],
  ['GET', '/oauth/userinfo', { authorization: bearer }],
  ['POST', '/oauth/register', { body: '{"redirect_uris":["https://a.example/cb"]}' }],
  ['POST', '/oauth/device/authorize', { body: 'client_id=cli_00000000000000000000000000' }],
  ['GET', '/oauth/authorize?client_id=cli_00000000000000000000000000&response_type=code', {}],
  ['GET', '/oauth/device', {}],
  ['POST', '/account/password', { body: 'email=ada%40example.com' }],
  ['GET', `/account/password/${view}`, {}],
  ['POST', `/account/password/${view}`, { body: 'new_password=a+new+password' }],
  ['GET', `/agent/claim/${view}`, {}],
  ['POST', `/agent/claim/${view}`, { body: 'password=a' }],
  ['POST', `/agent/claim/${view}/reject`, { body: '' }],
  ['GET', `/pay/${session}`, {}],
  ['POST', `/pay/${session}`, { body: 'name=a' }],
  ['GET', `/pay/${session}/receipt`, {}],
  ['POST', '/mcp', { body: rpc, authorization: bearer }],
  ['GET', '/checkout/chk_00000000000000000000000000', {}],
];

async function sendAll() {
  return Promise.all(
    LATE.map(async ([method, path, { body, authorization }]) => {
      const type = path === '/mcp' || path === '/oauth/register' ? JSON_TYPE : FORM;
      const response = await fetch(api.baseUrl + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(body !== undefined && { 'content-type': type }),
          ...(authorization !== undefined && { authorization }),
        },
        ...(body !== undefined && { body }),
      });
      const { status, headers } = response;
      return { path: path.split('?', 1)[0]!, status, headers, text: await response.text() };
    }),
  );
}

function expectUnavailable(responses: Awaited<ReturnType<typeof sendAll>>): void {
  const others = responses.filter(({ status }) => status !== 503);
  expect(others.map(({ path, status }) => `${path} ${status}`)).toEqual([]);
  for (const { path, ...response } of responses) {
    expect(response.headers.get('retry-after'), path).toBe('1');
    expectForm(response, formAt(path), path);
  }
}

test('a request that times out is refused in the format of its path', async () => {
  await sendAll();
  proxy.delay(DEADLINE_MS);
  onTestFinished(() => proxy.delay(0));
  expectUnavailable(await sendAll());
});

test('a request without a database is refused in the format of its path', async () => {
  await proxy.refuse();
  onTestFinished(() => proxy.resume());
  expectUnavailable(await sendAll());
});
