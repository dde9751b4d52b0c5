import { globSync, readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import {
  catalog,
  errorSlug,
  type CatalogEntry,
  type ErrorCode,
} from '../../src/foundation/errors/catalog.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { legacyValidator, responseValidators } from '../support/response-validators.ts';
import { startTestService, startWithLostDatabase } from '../support/service.ts';
import { operations } from './operations.ts';

const { media_type: LEGACY, schema } = contract['x-legacy-error'];
const isLegacyError = legacyValidator(schema);

const service = await startTestService();
const { api } = service;
const codes = Object.keys(catalog) as ErrorCode[];
const entries = Object.entries(catalog) as [ErrorCode, CatalogEntry][];

/** Refusals before an operation or path is known. */
const OF_THE_TRANSPORT = ['METHOD_NOT_ALLOWED', 'NOT_FOUND', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'];

/** The codes that the contract lists for all operations. */
const general = [
  ...contract.tags
    .find(({ name }) => name === 'Errors')!
    .description.split('Every operation can')[1]!
    .split('Outside operations')[0]!
    .matchAll(/`([A-Z_]+)`/g),
].map(([, code]) => code!);

const declared = new Set(operations.flatMap(({ codes }) => codes));

/** The codes that follow from marks of operations. */
const ofMarks = operations.flatMap(({ codesOfMarks }) => codesOfMarks);

describe('the catalog', () => {
  const sources = globSync('src/**/*.ts', { cwd: new URL('../..', import.meta.url) })
    .map((file) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
    .join('\n');
  const thrown = new Set(
    // By name, or from a table of codes.
    [
      ...sources.matchAll(/(?:new ApiError|super)\(\s*'([A-Z_]+)'/g),
      ...sources.matchAll(/[{,] [a-z]+: '([A-Z]+_[A-Z_]+)'/g),
    ].map(([, code]) => code!),
  );

  test('has exactly the codes that are thrown', () => {
    expect([...thrown].sort()).toEqual([...codes].sort());
  });

  test('has exactly the codes that the contract declares', () => {
    expect([...declared, ...general].filter((code) => !codes.includes(code as ErrorCode))).toEqual([]);
    const named = [...declared, ...general, ...ofMarks, ...OF_THE_TRANSPORT];
    expect(codes.filter((code) => !named.includes(code))).toEqual([]);
  });

  test('has codes that are declared once: general ones are not repeated by operations', () => {
    expect(general.length).toBeGreaterThan(0);
    expect(general.filter((code) => declared.has(code))).toEqual([]);
    // Uploads have a longer timeout of their own.
    const elsewhere = operations.filter(
      ({ requestBody }) => (requestBody?.mediaType ?? 'application/json') === 'application/json',
    );
    const codes = [...general, ...elsewhere.flatMap((operation) => operation.codes)];
    expect(OF_THE_TRANSPORT.filter((code) => codes.includes(code))).toEqual([]);
  });

  test.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'and %s declare the same statuses',
    (_operationId, { codes: own, codesOfMarks, responses, requestBody }) => {
      const ofEvery = requestBody
        ? general
        : general.filter((code) => !['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'].includes(code));
      const everywhere = [...ofEvery, ...codesOfMarks];
      const possible = [...own, ...everywhere].flatMap((code) => [...catalog[code as ErrorCode].statuses]);
      const statuses = Object.keys(responses).map(Number);
      for (const code of own) {
        const some = catalog[code as ErrorCode].statuses.some((status) => statuses.includes(status));
        expect(some, `a status of ${code}`).toBe(true);
      }
      expect(statuses.filter((status) => status >= 400 && !possible.includes(status as never))).toEqual([]);
      for (const code of everywhere) expect(statuses).toContain(catalog[code as ErrorCode].statuses[0]);
    },
  );

  test('has a title, a sentence, a hint and error statuses for every code', () => {
    for (const [code, { title, detail, hint, statuses }] of entries) {
      expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
      expect(title.length, code).toBeGreaterThan(0);
      expect(detail, code).toMatch(/^[A-Z].*\.$/);
      expect(hint, code).toMatch(/^[A-Z].*\.$/);
      expect(
        statuses.every((status) => status >= 400 && status < 600),
        code,
      ).toBe(true);
    }
    expect(new Set(codes.map(errorSlug)).size).toBe(codes.length);
  });
});

describe('pages', () => {
  test.each(entries)('%s has one', async (code, { title }) => {
    const response = await fetch(`${service.baseUrl}/errors/${errorSlug(code)}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8/i);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await response.text();
    expect(html).toContain(`<code>${code}</code>`);
    expect(html).toContain(`<h1>${title}</h1>`);
    expect(html).not.toMatch(/<script|\son\w+=|https?:\/\//i);
  });

  test('are all in the index', async () => {
    const html = await (await fetch(`${service.baseUrl}/errors`)).text();
    const linked = [...html.matchAll(/href="\/errors\/([^"]+)"/g)].map(([, slug]) => slug);
    expect(linked.sort()).toEqual(codes.map(errorSlug).sort());
  });

  test.each([
    'nonsense',
    'HWID_MISMATCH',
    'hwid_mismatch',
    'Hwid-Mismatch',
    'hwid-mismatch/',
    '__proto__',
    'constructor',
  ])('does not exist at %s', async (slug) => {
    expect((await api.call('GET', `/errors/${slug}`)).body).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** Does not send the `Accept` header that fetch adds. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  const sent = { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) };
  const request = httpRequest(service.baseUrl + path, { method, headers: sent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    response.on('end', () =>
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        body: JSON.parse(text) as Record<string, unknown>,
      }),
    );
  });
  request.on('error', reject).end(body);
  return promise;
}

describe('the model', async () => {
  const { token } = await newDeveloper(api);
  const app = await newApp(api);
  const faults = [
    { id: 'loginUser', method: 'POST', path: '/api/v1/client/login', body: '{}', code: 'VALIDATION_FAILED' },
    { id: 'initApplication', method: 'POST', path: '/api/v1/client/init', body: '{', code: 'MALFORMED_JSON' },
    {
      id: 'verifySession',
      method: 'POST',
      path: '/api/v1/client/verify-session',
      body: JSON.stringify({ token: 'x', app_id: 'y' }),
      code: 'SESSION_INVALID',
    },
    { id: 'listApplications', method: 'GET', path: '/api/v2/dev/apps', code: 'UNAUTHORIZED' },
    {
      id: 'getApplication',
      method: 'GET',
      path: `/api/v2/dev/apps/${app.app_id}`,
      code: 'APPLICATION_NOT_FOUND',
      token,
    },
    { id: undefined, method: 'GET', path: '/nowhere', code: 'NOT_FOUND' },
    { id: undefined, method: 'PUT', path: '/health', code: 'METHOD_NOT_ALLOWED' },
    { id: undefined, method: 'GET', path: '/errors/%', code: 'MALFORMED_REQUEST' },
  ];
  const accepts: [string | undefined, 'problem' | 'legacy'][] = [
    [undefined, 'problem'],
    ['*/*', 'problem'],
    ['application/problem+json', 'problem'],
    ['APPLICATION/Problem+JSON', 'problem'],
    ['application/*', 'problem'],
    ['application/json, text/plain, */*', 'problem'],
    ['application/json;q=1, application/problem+json;q=0.1', 'problem'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'problem'],
    ['application/json, application/*;q=0.001', 'problem'],
    ['application/json', 'problem'],
    ['application/json; charset=utf-8', 'problem'],
    ['application/json, text/plain', 'problem'],
    ['text/html', 'problem'],
    ['text/csv', 'problem'],
    ['application/octet-stream', 'problem'],
    ['application/problem+json;q=0', 'problem'],
    ['application/problem+json;q=0, */*', 'problem'],
    ['application/json, */*;q=0', 'problem'],
    [`${LEGACY};q=0, */*`, 'problem'],
    [`${LEGACY};q=0`, 'problem'],
    [`${LEGACY};q=0.1, application/problem+json`, 'problem'],
    ['application/vnd.latchkey.legacy-error', 'problem'],
    [LEGACY, 'legacy'],
    ['Application/VND.Latchkey.Legacy-Error+JSON; charset=utf-8', 'legacy'],
    [`application/json, ${LEGACY}`, 'legacy'],
    [`*/*, ${LEGACY};q=0.9`, 'problem'],
    [`*/*;q=0.8, ${LEGACY};q=0.9`, 'legacy'],
    [`${LEGACY}, application/problem+json;q=0.9`, 'legacy'],
  ];

  test.each(accepts)('for Accept: %s is %s', async (accept, model) => {
    for (const { id, method, path, body, code, token: bearer } of faults) {
      const headers = {
        ...(accept !== undefined && { accept }),
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      };
      const response = await raw(method, path, headers, body);
      const where = `${method} ${path}`;
      const mediaType = model === 'problem' ? 'application/problem+json' : LEGACY;
      expect(response.headers['content-type'], where).toBe(mediaType);
      const entry: CatalogEntry = catalog[code as ErrorCode];
      expect(response.status, where).toBe(entry.statuses[0]);
      const page = `${service.baseUrl}/errors/${errorSlug(code as ErrorCode)}`;
      const common = {
        type: page,
        docs_url: page,
        hint: entry.hint,
        timestamp: service.clock.now().toISOString(),
        request_id: response.headers['x-request-id'],
      };
      expect(response.body, where).toMatchObject(
        model === 'problem'
          ? { ...common, code, status: response.status, title: entry.title, instance: path }
          : { ...common, error: code, code: response.status, status: 'fail' },
      );
      expect(Object.hasOwn(response.body, 'errors'), where).toBe(code === 'VALIDATION_FAILED');
      if (!id) continue;
      const range = responseValidators[id]![`${String(response.status)[0]}XX`]!;
      const validate = model === 'problem' ? range[mediaType]! : isLegacyError;
      expect(validate(response.body) || validate.errors, where).toBe(true);
    }
  });

  test('is a problem for a client that names it with a parameter', async () => {
    const response = await raw('GET', '/nowhere', { accept: 'application/problem+json; charset=utf-8' });
    expect(response.headers['content-type']).toBe('application/problem+json');
  });

  test("is legacy with status 'error' for errors of the service", async () => {
    const broken = await startWithLostDatabase(service.databaseUrl);
    const response = await fetch(`${broken.baseUrl}/health`, { headers: { accept: LEGACY } });
    expect(await response.json()).toMatchObject({ status: 'error', error: 'HEALTH_CHECK_FAILED', code: 500 });
  });
});

test.each([
  ['POST', '/api/v1/client/login', '{}'],
  ['GET', '/api/v2/dev/apps', undefined],
  ['GET', '/nowhere', undefined],
])('type and docs_url of %s %s are the page of the code', async (method, path, body) => {
  const { body: problem } = await api.call(method, path, body);
  for (const address of [problem['type'], problem['docs_url']]) {
    const page = await fetch(String(address));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(String(problem['code']));
  }
});

test('type and docs_url begin with WEB_URL', async () => {
  const other = await startTestService({
    DATABASE_URL: service.databaseUrl,
    WEB_URL: 'https://www.example.com/',
  });
  const { body } = await other.api.call('GET', '/nowhere');
  expect(body).toMatchObject({ type: 'https://www.example.com/errors/not-found' });
});

describe('NOT_FOUND', () => {
  test.each([
    '/nowhere',
    '//',
    '//health',
    '/health/',
    '/Health',
    '/api',
    '/api/v1/client',
    '/api/v1/client/',
    '/api/v1/client/login/',
    '/api/v1//client/login',
    '/api/v1/client/LOGIN',
    '/api/v1/client/log%69n',
    '/api/v2/dev/apps/',
    '/api/v2/dev/apps//licenses',
    '/api/v2/dev/apps/x/licenses/',
    '/api/v2/dev/apps/x/y/licenses',
    '/api/v1/client/login-license',
    '/api/v2/client/registration',
    '/api/v2/client/login/',
    '/api/v1/sandbox',
    '/api/v2/dev/apps/x/bans/',
    '/api/v2/dev/apps/x/bans//',
    '/openapi.json/',
    '/openapi.yaml',
    '/errors/',
    '/deprecations/',
    '/metrics/',
    '/.env',
    '/constructor',
    '/__proto__',
  ])('%s', async (path) => {
    for (const method of ['GET', 'POST']) {
      const response = await raw(method, path, {});
      expect({ path, status: response.status, code: response.body['code'] }).toEqual({
        path,
        status: 404,
        code: 'NOT_FOUND',
      });
      expect(response.body['instance']).toBe(path);
      expect(response.headers['allow']).toBeUndefined();
    }
  });
});

describe('METHOD_NOT_ALLOWED', () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND'];
  const pages = ['/', '/errors', '/errors/not-found', '/deprecations', '/metrics'].map(
    (path) => [path, ['GET', 'HEAD']] as const,
  );
  const documents = ['/openapi.json', '/llms.txt', '/auth.md'].map(
    (path) => [path, ['GET', 'HEAD', 'OPTIONS']] as const,
  );
  const paths = Object.entries(Object.groupBy(operations, ({ path }) => path)).map(
    ([path, own]) =>
      [
        path.replaceAll(/\{\w+\}/g, 'x'),
        own!.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])),
      ] as const,
  );

  test.each([...paths, ...pages, ...documents])('%s allows %j', async (path, allowed) => {
    for (const method of methods.filter((each) => !(allowed as readonly string[]).includes(each))) {
      const response = await raw(method, path, {});
      expect({ method, status: response.status, code: response.body['code'] }).toEqual({
        method,
        status: 405,
        code: 'METHOD_NOT_ALLOWED',
      });
      expect(response.headers['allow']?.split(', ').sort()).toEqual([...allowed].sort());
    }
  });
});
