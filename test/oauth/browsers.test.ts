import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DatabaseProxy } from '../faults/database-proxy.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { createTestDatabase } from '../support/database.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { newClient } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ORIGIN = 'https://client.example';
const EXPOSED = [
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

/** Sends a request like a program in a browser. */
function send(
  { baseUrl }: TestService,
  path: string,
  body?: Record<string, string>,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = { origin: ORIGIN, ...more };
  if (!body) return fetch(baseUrl + path, { headers });
  if (path !== '/oauth/register') {
    return fetch(baseUrl + path, { method: 'POST', headers, body: new URLSearchParams(body) });
  }
  const json = { ...headers, 'content-type': 'application/json' };
  return fetch(baseUrl + path, { method: 'POST', headers: json, body: JSON.stringify(body) });
}

/** The headers without which a browser does not let a page of another origin read a response. */
function expectReadable(response: Response): void {
  expect(['*', ORIGIN]).toContain(response.headers.get('access-control-allow-origin'));
  const exposed = response.headers.get('access-control-expose-headers')?.split(/, */) ?? [];
  expect(exposed).toEqual(expect.arrayContaining(EXPOSED));
}

/** An error of RFC 6749, section 5.2. */
async function expectRefusal(response: Response, status: number): Promise<void> {
  expectReadable(response);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({
    error: 'temporarily_unavailable',
    error_description: expect.any(String),
  });
}

describe('a client over the rate limit', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ RATE_LIMIT: '3/60' });
  });

  test.each(['/oauth/register', '/oauth/device/authorize'])('gets 429 at %s', async (path) => {
    const body = { client_id: 'cli_unknown' };
    for (let each = 0; each < 3; each += 1) expect((await send(service, path, body)).status).not.toBe(429);
    await expectRefusal(await send(service, path, body), 429);
  });
});

describe('while the database is unavailable', () => {
  let service: TestService;
  let proxy: DatabaseProxy;
  beforeAll(async () => {
    const direct = new URL(await createTestDatabase());
    const { host, port = '5432', user } = Object.fromEntries(direct.searchParams) as Record<string, string>;
    proxy = await DatabaseProxy.open(join(host!, `.s.PGSQL.${port}`));
    atFileEnd(() => proxy.close());
    service = await startTestService({
      DATABASE_URL: `postgresql://${user}@127.0.0.1:${proxy.port}${direct.pathname}`,
    });
  });
  afterEach(() => proxy.resume());

  const form = { client_id: 'cli_0123456789abcdefghjkmnpqrs', token: 'lka_x', grant_type: 'refresh_token' };
  const bearer = { authorization: `Bearer lkd_${'x'.repeat(43)}` };

  const paths = [
    ['/oauth/token', form],
    ['/oauth/revoke', form],
    ['/oauth/introspect', form],
    ['/oauth/device/authorize', form],
    ['/oauth/register', { redirect_uris: 'https://client.example/' }],
    ['/oauth/userinfo', undefined],
  ] as const;
  const refusal = (path: string, body: Record<string, string> | undefined) =>
    send(service, path, body, path === '/oauth/userinfo' ? bearer : {});

  describe('and there is no signing key for ID tokens', () => {
    test.each([...paths, ['/.well-known/jwks.json', undefined]] as const)(
      '%s can be retried later',
      async (path, body) => {
        await proxy.refuse();
        await expectRefusal(await refusal(path, body), 503);
      },
    );

    test.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])(
      'so can %s',
      async (path) => {
        await proxy.refuse();
        const response = await send(service, path);
        expectReadable(response);
        expect(response.status).toBe(503);
        expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
        expect(response.headers.get('cache-control') ?? '').not.toContain('max-age');
        expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      },
    );
  });

  describe('and there is a signing key', () => {
    test.each(paths)('%s can be retried later', async (path, body) => {
      const published = () => send(service, '/.well-known/jwks.json').then(({ status }) => status);
      await expect.poll(published, { timeout: 30_000 }).toBe(200);
      await proxy.refuse();
      await expectRefusal(await refusal(path, body), 503);
    });
  });
});

test("only pages of a client's own origins can read its responses", async () => {
  const service = await startTestService();
  const developer = await newDeveloper(service.api);
  const { client_id } = await newClient(service.api, developer, { token_endpoint_auth_method: 'none' });
  const seenBy = async (origin: string) => {
    const form = { client_id, grant_type: 'authorization_code' };
    const { headers } = await send(service, '/oauth/token', form, { origin });
    return headers.get('access-control-allow-origin');
  };
  expect(await seenBy(ORIGIN)).toBe(ORIGIN);
  expect(await seenBy('https://elsewhere.example')).toBeNull();
});
