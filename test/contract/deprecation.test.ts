import { describe, expect, test } from 'vitest';
import { flood } from '../support/hashing.ts';
import { newApp, newHwid, newUser, unique } from '../support/fixtures.ts';
import { startTestService, startWithLostDatabase } from '../support/service.ts';
import { operations } from './operations.ts';
import { examplePath } from './parameters.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api, baseUrl } = service;
const app = await newApp(api);
const user = await newUser(api, app);

const NAMES = ['deprecation', 'sunset', 'link'];

const deprecationOf = (headers: Headers) =>
  Object.fromEntries(NAMES.map((name) => [name, headers.get(name)]));

/** The headers of v1 login responses: deprecated on 21 November 2026, removed 365 days later. */
const marks = (api_: string, web: string) => ({
  deprecation: '@1795219200',
  sunset: 'Sun, 21 Nov 2027 00:00:00 GMT',
  link: [
    `<${web}/deprecations#loginUser>; rel="deprecation"; type="text/html"`,
    `<${web}/deprecations#loginUser>; rel="sunset"; type="text/html"`,
    `<${api_}/api/v2/client/login>; rel="successor-version"`,
  ].join(', '),
});

describe('every response of the v1 login has deprecation headers', () => {
  const path = '/api/v1/client/login';

  test.each<[number, unknown, Record<string, string>]>([
    [200, app.with(user), {}],
    [400, {}, {}],
    [400, '{', {}],
    [401, app.with({ ...user, password: 'wrong' }), {}],
    [401, { ...user, app_id: 'app_x', secret: 'sk_x' }, {}],
    [403, app.with({ ...user, hwid: newHwid() }), {}],
    [413, `"${'x'.repeat(131_072)}"`, {}],
    [415, app.with(user), { 'content-type': 'text/plain' }],
    [401, app.with({ ...user, password: 'wrong' }), { accept: 'application/json' }],
  ])('%d', async (status, body, headers) => {
    const response = await api.post(path, body, { headers });
    expect(response.status).toBe(status);
    expect(deprecationOf(response.headers)).toEqual(marks(baseUrl, baseUrl));
  });

  test('429, from the rate limit and from the password queue', async () => {
    const limited = await startTestService({ DATABASE_URL: service.databaseUrl, RATE_LIMIT: '1/60' });
    const responses = [];
    while (responses.length < 5) {
      const response = await limited.api.post(path, {});
      responses.push(response);
      if (response.status === 429) break;
    }
    expect(responses.at(-1)!.status).toBe(429);
    const own = marks(limited.baseUrl, limited.baseUrl);
    for (const { headers } of responses) expect(deprecationOf(headers)).toEqual(own);

    const { atOnce } = await flood(3, () => api.login(app.with({ ...user, username: unique('user') })));
    for (const { status, headers } of atOnce) {
      expect(status).toBe(429);
      expect(deprecationOf(headers)).toEqual(marks(baseUrl, baseUrl));
    }
  });

  test('503, without the database', async () => {
    const broken = await startWithLostDatabase(service.databaseUrl);
    const response = await broken.api.post(path, app.with(user));
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(deprecationOf(response.headers)).toEqual(marks(broken.baseUrl, broken.baseUrl));
  });

  test('with BASE_URL and WEB_URL', async () => {
    const behind = await startTestService({
      DATABASE_URL: service.databaseUrl,
      WEB_URL: 'https://www.example.com/',
    });
    const { headers } = await behind.api.post(path, {});
    expect(deprecationOf(headers)).toEqual(marks(behind.baseUrl, 'https://www.example.com'));
  });
});

test('no other operation or page has deprecation headers', async () => {
  for (const { operationId, method, path, requestBody } of operations) {
    if (operationId === 'loginUser') continue;
    const { headers } = await api.call(method, examplePath(path), requestBody?.example, {
      headers: requestBody && { 'content-type': requestBody.mediaType },
    });
    expect(deprecationOf(headers), operationId).toEqual({ deprecation: null, sunset: null, link: null });
  }
  for (const path of ['/errors', '/deprecations', '/nowhere', '/openapi.json']) {
    const { headers } = await fetch(baseUrl + path);
    expect(deprecationOf(headers), path).toEqual({ deprecation: null, sunset: null, link: null });
  }
  const home = deprecationOf((await fetch(baseUrl)).headers);
  expect(home).toEqual({ deprecation: null, sunset: null, link: expect.not.stringContaining('deprecation') });
  // Only this operation is deprecated, not other methods on its path.
  const { headers } = await fetch(`${baseUrl}/api/v1/client/login`);
  expect(deprecationOf(headers)).toEqual({ deprecation: null, sunset: null, link: null });
});

describe('/deprecations', () => {
  test('is the page of the links: what is deprecated, since when, until when, and its replacement', async () => {
    const { headers } = await api.post('/api/v1/client/login', {});
    const [, address] = /<([^>]*)>; rel="deprecation"/.exec(headers.get('link')!)!;
    const { hash, href } = new URL(address!);
    const response = await fetch(href);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8/i);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await response.text();
    expect(html).toContain(`id="${hash.slice(1)}"`);
    expect([...html.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell)).toEqual([
      '<code>/api/v1/client/login</code>',
      '2026-11-21',
      '2027-11-21',
      '<code>/api/v2/client/login</code>',
    ]);
    expect(html).not.toMatch(/<script|\son\w+=|https?:\/\//i);
  });

  test('is linked from the home page', async () => {
    expect(await (await fetch(baseUrl)).text()).toContain('href="/deprecations"');
  });
});
