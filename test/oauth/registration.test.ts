import * as client from 'openid-client';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { authorize, beginAuthorization, Browser, newClient, REDIRECT_URI } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let developer: Developer;
beforeAll(async () => {
  service = await startTestService();
  developer = await newDeveloper(service.api);
});

const register = async (metadata: unknown, at = service) => {
  const response = await fetch(`${at.baseUrl}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
  return { status: response.status, body: (await response.json()) as Record<string, never> };
};

describe('dynamic client registration (RFC 7591)', () => {
  test('openid-client can register and be authorized by a developer', async () => {
    const metadata = { client_name: 'Inspector', redirect_uris: [REDIRECT_URI] };
    const config = await client.dynamicClientRegistration(new URL(service.baseUrl), metadata, undefined, {
      execute: [client.allowInsecureRequests],
    });
    const { client_id, client_secret } = config.clientMetadata();
    expect(client_id).toMatch(/^cli_[0-9a-z]{26}$/);
    expect(client_secret).toMatch(/^[\w-]{43}$/);
    const registered = { client_id, client_secret: client_secret as string };
    const { redeem } = await authorize(service.baseUrl, developer, registered);
    expect((await redeem()).claims()?.sub).toBe(developer.developerId);
  });

  test('a public client on this machine needs no secret, and its page shows what is known about it', async () => {
    const { status, body } = await register({
      client_name: '<b>Editor</b>',
      redirect_uris: ['http://127.0.0.1:3300/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
    expect(status).toBe(201);
    expect(body['client_secret']).toBeUndefined();
    const { redeem } = await authorize(
      service.baseUrl,
      developer,
      { client_id: body['client_id']! },
      {
        redirect_uri: 'http://127.0.0.1:3300/callback',
      },
    );
    expect((await redeem()).refresh_token).toBeDefined();
    const browser = new Browser(service.baseUrl);
    const { html } = await browser.open(
      `/oauth/authorize?client_id=${String(body['client_id'])}&response_type=code&code_challenge=${'x'.repeat(43)}&code_challenge_method=S256`,
    );
    expect(html).toContain('&lt;b&gt;Editor&lt;/b&gt;');
    expect(html).not.toContain('<b>Editor');
  });

  test.each([
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: ['http://elsewhere.example/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['javascript:alert(1)'], application_type: 'native' }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://a.example/#fragment'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [REDIRECT_URI], grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], scope: 'everything' }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], client_name: 7 }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], client_name: 'a\u0000b' }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], client_name: 'Bank\u202egnp' }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], client_name: '\ud800' }, 'invalid_request'],
    [{ redirect_uris: [REDIRECT_URI], client_name: 'a'.repeat(101) }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], client_name: ' ' }, 'invalid_client_metadata'],
    [{ redirect_uris: [REDIRECT_URI], client_name: '\u3164\u2800\u00ad' }, 'invalid_client_metadata'],
    ['[]', 'invalid_request'],
    ['{', 'invalid_request'],
  ])('%j is refused', async (metadata, error) => {
    const { status, body } = await register(metadata);
    expect({ status, error: body['error'] }).toEqual({ status: 400, error });
  });

  const page = async (metadata: object, redirectUri: string) => {
    const { body } = await register(metadata);
    const query = new URLSearchParams({
      client_id: body['client_id']!,
      redirect_uri: redirectUri,
      response_type: 'code',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    return new Browser(service.baseUrl).open(`/oauth/authorize?${query}`);
  };
  const PUBLIC = { token_endpoint_auth_method: 'none' };

  test.each([
    ['http://localhost/callback', 'http://localhost:51234/callback', PUBLIC, 200],
    ['http://127.0.0.1:1/callback?a=b', 'http://127.0.0.1:51234/callback?a=b', PUBLIC, 200],
    ['http://[::1]/', 'http://[::1]:51234/', PUBLIC, 200],
    ['http://localhost/callback', 'http://localhost:51234/elsewhere', PUBLIC, 400],
    ['http://localhost/callback', 'http://localhost.example:51234/callback', PUBLIC, 400],
    ['http://localhost/callback', 'http://me@localhost:51234/callback', PUBLIC, 400],
    ['https://client.example/callback', 'https://client.example:444/callback', PUBLIC, 400],
    ['http://localhost/callback', 'http://localhost:51234/callback', {}, 400],
  ])('of %s, %s matches except for the port of a program', async (registered, sent, metadata, status) => {
    expect((await page({ ...metadata, redirect_uris: [registered] }, sent)).status).toBe(status);
  });

  test('a custom scheme does not make a program look like a host', async () => {
    const uri = 'com.evil.app://bank.example/callback';
    const { status, html } = await page({ ...PUBLIC, application_type: 'native', redirect_uris: [uri] }, uri);
    expect(status).toBe(200);
    expect(html).toContain('a program on this machine (com.evil.app:)');
    expect(html).not.toContain('bank.example');
  });

  test('an address can register a limited number of clients in a minute', async () => {
    const limited = await startTestService({ RATE_LIMIT: '2/60' });
    const statuses = [];
    for (let each = 0; each < 3; each += 1) {
      statuses.push((await register({ redirect_uris: [REDIRECT_URI] }, limited)).status);
    }
    expect(statuses).toEqual([201, 201, 429]);
  });

  test('an unused client is deleted after 90 days', async () => {
    const { body } = await register({ redirect_uris: [REDIRECT_URI] });
    const own = await newClient(service.api, developer);
    service.clock.advance(91 * 86_400_000);
    while ((await service.services.oauthClients.clearUnused()) > 0);
    const found = service.database
      .knex('oauth_clients')
      .whereIn('client_id', [String(body['client_id']), own.client_id]);
    expect(await found.pluck('client_id')).toEqual([own.client_id]);
    developer = await newDeveloper(service.api);
  });
});

describe('client ID metadata documents', () => {
  test.each(['https://127.0.0.1/client.json', 'https://localhost/client.json', 'https://10.0.0.1:8443/c'])(
    'at %s are not fetched',
    async (clientId) => {
      const query = new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: REDIRECT_URI,
      });
      const shown = await new Browser(service.baseUrl).open(`/oauth/authorize?${query}`);
      expect(shown.status).toBe(400);
      expect(shown.html).toContain('invalid_client');
    },
  );
});

describe('the metadata', () => {
  test('lists the supported features, the same at both paths', async () => {
    const [openid, oauth] = await Promise.all(
      ['openid-configuration', 'oauth-authorization-server'].map(async (name) => {
        const response = await fetch(`${service.baseUrl}/.well-known/${name}`);
        expect(response.headers.get('access-control-allow-origin')).toBe('*');
        return (await response.json()) as Record<string, unknown>;
      }),
    );
    expect(openid).toEqual(oauth);
    const grants = [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ];
    // Assertions are always accepted, and advertised if an issuer is trusted.
    const assertions = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    const { grant_types_supported: known, ...own } = await service.services.authorizationServer.metadata();
    expect((known as string[]).toSorted()).toEqual([...grants, assertions].toSorted());
    const { agent_auth: agentAuth, grant_types_supported: served, ...rest } = openid!;
    const documentation = { service_documentation: `${service.baseUrl}/auth.md` };
    expect(rest).toEqual({ ...(JSON.parse(JSON.stringify(own)) as object), ...documentation });
    expect((served as string[]).toSorted()).toEqual(grants.toSorted());
    expect(agentAuth).toMatchObject({ claim_uri: `${service.baseUrl}/api/v1/agent/claim` });
    expect(openid).toMatchObject({
      issuer: service.baseUrl,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    });
    expect(openid).not.toHaveProperty('dpop_signing_alg_values_supported');
    for (const [name, address] of Object.entries(openid!)) {
      if (!/_endpoint$|^jwks_uri$/.test(name)) continue;
      const { status } = await fetch(String(address), { method: 'PUT' });
      expect({ name, status }).toEqual({ name, status: 405 });
    }
  });

  test('the keys have no private part', async () => {
    const { keys } = (await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()) as {
      keys: Record<string, unknown>[];
    };
    expect(keys.map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256']);
    for (const key of keys) {
      for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi']) expect(key).not.toHaveProperty(member);
    }
  });
});

describe('sign-out', () => {
  async function signedIn() {
    const registered = await newClient(service.api, developer, {
      post_logout_redirect_uris: ['https://client.example/bye'],
    });
    const { browser, config, redeem } = await authorize(service.baseUrl, developer, registered);
    const tokens = await redeem();
    const url = client.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token!,
      post_logout_redirect_uri: 'https://client.example/bye',
      state: 'a state',
    });
    return { registered, browser, tokens, url };
  }
  test('ends the sign-in and returns, and authorizations stay', async () => {
    const { registered, browser, tokens, url } = await signedIn();
    const page = await browser.open(url);
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://client.example",
    );
    const end = await browser.send(page, { logout: 'yes' });
    expect(end.url.href).toBe('https://client.example/bye?state=a+state');
    const again = await beginAuthorization(service.baseUrl, registered, { prompt: 'none' });
    expect((await browser.open(again.url)).html).toContain('<code>login_required</code>');
    const { status } = await service.api.call('GET', '/api/v2/dev/me', undefined, {
      token: tokens.access_token,
    });
    expect(status).toBe(200);
  });

  test('a browser without a signed-in user returns by a link, without a script', async () => {
    const { url } = await signedIn();
    const { status, html } = await new Browser(service.baseUrl).open(url);
    expect(status).toBe(200);
    expect(html).toContain('href="https://client.example/bye?state=a+state"');
    expect(html).not.toContain('<script');
    const plain = await new Browser(service.baseUrl).open('/oauth/logout');
    expect(plain.html).toContain('You are signed out');
  });

  test('does not redirect to an unregistered URI', async () => {
    const { browser, url } = await signedIn();
    url.searchParams.set('post_logout_redirect_uri', 'https://elsewhere.example/');
    expect((await browser.open(url)).status).toBe(400);
  });
});

describe('bad input', () => {
  const naughty = [
    '',
    '\u0000',
    '%',
    'a\uD800',
    '../..',
    '[]',
    "'; drop table x; --",
    'x'.repeat(5000),
    '🤖',
  ];
  const fields = [
    'client_id',
    'redirect_uri',
    'scope',
    'resource',
    'state',
    'code_challenge',
    'response_type',
    'prompt',
    'response_mode',
    'login_hint',
    'id_token_hint',
    'max_age',
    'nonce',
    'request',
    'request_uri',
    'claims',
    'user_code',
    'post_logout_redirect_uri',
  ];
  const posted = [
    'grant_type',
    'code',
    'refresh_token',
    'device_code',
    'assertion',
    'client_secret',
    'token',
    'token_type_hint',
    'client_assertion',
    'resource',
    'scope',
    'xsrf',
    'user_code',
    'action',
    'client_id',
  ];

  test('no path responds to a query with a server error', async () => {
    const { client_id } = await newClient(service.api, developer);
    for (const path of [
      '/oauth/authorize',
      '/oauth/device',
      '/oauth/logout',
      '/oauth/logout/success',
      '/oauth/authorize/x',
    ]) {
      for (const field of fields) {
        for (const value of naughty) {
          const query = new URLSearchParams({ client_id, redirect_uri: REDIRECT_URI, response_type: 'code' });
          query.set(field, value);
          const { status } = await fetch(`${service.baseUrl}${path}?${query}`, { redirect: 'manual' });
          expect({ path, field, value, isFine: status < 500 }).toEqual({ path, field, value, isFine: true });
        }
      }
    }
  });

  test('nor to a form', async () => {
    const { client_id, client_secret } = await newClient(service.api, developer, {
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
    });
    const grants = [
      'client_credentials',
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ];
    const paths = [
      '/oauth/token',
      '/oauth/revoke',
      '/oauth/introspect',
      '/oauth/device/authorize',
      '/oauth/device',
      '/oauth/logout/confirm',
      '/oauth/interaction/x',
      '/oauth/register',
      '/oauth/userinfo',
    ];
    for (const path of paths) {
      for (const field of posted) {
        for (const [index, value] of naughty.entries()) {
          const body = new URLSearchParams({
            client_id,
            client_secret: client_secret!,
            grant_type: grants[index % 4]!,
          });
          body.set(field, value);
          if (index % 2) body.append(field, 'twice');
          const { status } = await fetch(`${service.baseUrl}${path}`, {
            method: 'POST',
            body,
            redirect: 'manual',
          });
          expect({ path, field, value, isFine: status < 500 }).toEqual({ path, field, value, isFine: true });
        }
      }
    }
  });

  test.each(['{', 'a=%ZZ', '\u0000'.repeat(100), 'x'.repeat(100_000)])(
    'nor to an invalid body',
    async (body) => {
      for (const type of [
        'application/x-www-form-urlencoded',
        'application/json',
        'text/plain',
        'multipart/form-data',
      ]) {
        for (const path of ['/oauth/token', '/oauth/register', '/oauth/introspect', '/oauth/device']) {
          const { status } = await fetch(`${service.baseUrl}${path}`, {
            method: 'POST',
            body,
            headers: { 'content-type': type, authorization: 'Basic !!' },
          });
          expect(status).toBeLessThan(500);
          expect(status).toBeGreaterThanOrEqual(400);
        }
      }
    },
  );

  test('forwarded headers of a client are ignored', async () => {
    const response = await fetch(`${service.baseUrl}/.well-known/openid-configuration`, {
      headers: { 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-proto': 'https' },
    });
    expect(await response.text()).not.toContain('elsewhere');
  });

  test('programs get JSON, regardless of what they accept', async () => {
    for (const path of ['/oauth/token', '/oauth/introspect', '/oauth/register']) {
      const response = await fetch(`${service.baseUrl}${path}`, {
        method: 'POST',
        headers: { accept: 'text/html' },
      });
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(await response.json()).toMatchObject({ error: expect.any(String) });
    }
  });
});

test('behind an HTTPS proxy, all URLs begin with the issuer, and cookies are secure', async () => {
  const port = await freePort();
  const issuer = 'https://auth.example';
  await startTestService({ BASE_URL: issuer, PORT: String(port) });
  const local = `http://127.0.0.1:${port}`;
  const registered = await fetch(`${local}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI] }),
  });
  const { client_id } = (await registered.json()) as { client_id: string };
  const query = new URLSearchParams({
    client_id,
    response_type: 'code',
    redirect_uri: REDIRECT_URI,
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  });
  const response = await fetch(`${local}/oauth/authorize?${query}`, { redirect: 'manual' });
  expect(response.status).toBe(303);
  const cookies = response.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(1);
  for (const cookie of cookies) expect(cookie).toMatch(/; secure; httponly/i);
  const metadata = await (await fetch(`${local}/.well-known/openid-configuration`)).json();
  expect(metadata).toMatchObject({ issuer, token_endpoint: `${issuer}/oauth/token` });
});

test('nothing is written to the console', async () => {
  const spies = (['info', 'warn', 'error', 'log'] as const).map((method) => vi.spyOn(console, method));
  const quiet = await startTestService();
  const owner = await newDeveloper(quiet.api);
  await (await authorize(quiet.baseUrl, owner, await newClient(quiet.api, owner))).redeem();
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});
