import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import {
  authorize,
  beginAuthorization,
  Browser,
  consent,
  discover,
  newClient,
  REDIRECT_URI,
} from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let developer: Developer;
beforeAll(async () => {
  service = await startTestService();
});
// The clock advances beyond the lifetime of a developer's own token.
beforeEach(async () => {
  developer = await newDeveloper(service.api);
});

const me = (token: string) => service.api.call('GET', '/api/v2/dev/me', undefined, { token });
const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: { error?: string }) => error.error,
  );

describe('authorization code with PKCE', () => {
  test('a client gets tokens for the API and their subject', async () => {
    const registered = await newClient(service.api, developer);
    const { config, url, redeem } = await authorize(service.baseUrl, developer, registered);
    expect(url.searchParams.get('iss')).toBe(service.baseUrl);
    const tokens = await redeem();
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'openid email read' });
    expect(tokens.refresh_token).toBeDefined();
    expect(tokens.claims()).toMatchObject({ sub: developer.developerId, aud: registered.client_id });
    expect(decodeProtectedHeader(tokens.id_token!).alg).toBe('RS256');

    expect((await me(tokens.access_token)).status).toBe(200);
    const info = await client.fetchUserInfo(config, tokens.access_token, developer.developerId);
    expect(info).toEqual({ sub: developer.developerId, email: developer.email, email_verified: false });

    const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri!));
    const { payload, protectedHeader } = await jwtVerify(tokens.access_token, keys, {
      issuer: service.baseUrl,
      audience: service.baseUrl,
      typ: 'at+jwt',
      currentDate: service.clock.now(),
      requiredClaims: ['exp', 'iat', 'jti', 'sub', 'client_id'],
    });
    expect(protectedHeader.alg).toBe('ES256');
    expect(payload).toMatchObject({ sub: developer.developerId, client_id: registered.client_id });
  });

  test.each([
    ['openid', {}],
    ['openid profile', { name: 'Grace' }],
    [
      'openid profile email',
      { name: 'Grace', email: 'openid.profile.email@example.com', email_verified: false },
    ],
  ])('%s reveals only its own claims', async (scope, claims: Record<string, unknown>) => {
    const account = { email: `${scope.split(' ').join('.')}@example.com`, password: 'a good password' };
    const { body } = await service.api.post<{ developer_id: string; token: string }>('/api/v2/dev/register', {
      ...account,
      name: 'Grace',
    });
    const who = { ...account, developerId: body.developer_id, token: body.token };
    const registered = await newClient(service.api, developer, {
      scopes: ['openid', 'profile', 'email', 'read'],
    });
    const { config, redeem } = await authorize(service.baseUrl, who, registered, { scope });
    const { access_token, scope: granted } = await redeem();
    expect(granted).toBe(scope);
    const info = await client.fetchUserInfo(config, access_token, who.developerId);
    expect(info).toEqual({ sub: who.developerId, ...claims });
    expect(config.serverMetadata().claims_supported).toEqual(expect.arrayContaining(Object.keys(claims)));
  });

  test('clicking several times grants access once', async () => {
    const registered = await newClient(service.api, developer);
    const browser = new Browser(service.baseUrl);
    const { url, redeem } = await beginAuthorization(service.baseUrl, registered);
    const { email, password, token } = developer;
    const page = await browser.send(await browser.open(url), { email, password, action: 'sign-in' });
    const ends = await Promise.all([0, 1, 2].map(() => browser.send(page, { action: 'allow' })));
    await redeem(ends.find((end) => end.url.href.startsWith(REDIRECT_URI))!.url);

    const listed = async (path: string) =>
      (await service.api.call<{ data: unknown[] }>('GET', path, undefined, { token })).body.data;
    expect(await listed('/api/v2/dev/authorizations')).toHaveLength(1);
    expect(await listed('/api/v2/dev/audit-log?action=authorization.granted')).toHaveLength(1);
  });

  test('a code is valid once, and a second use revokes its tokens', async () => {
    const registered = await newClient(service.api, developer);
    const { redeem, config } = await authorize(service.baseUrl, developer, registered);
    const { access_token, refresh_token } = await redeem();
    expect(await failing(redeem())).toBe('invalid_grant');
    expect((await me(access_token)).status).toBe(401);
    expect(await failing(client.refreshTokenGrant(config, refresh_token!))).toBe('invalid_grant');
  });

  test('a code expires after a minute', async () => {
    const registered = await newClient(service.api, developer);
    const { redeem } = await authorize(service.baseUrl, developer, registered);
    service.clock.advance(61_000);
    expect(await failing(redeem())).toBe('invalid_grant');
  });

  test('an access token expires after an hour, at the API and by introspection', async () => {
    const registered = await newClient(service.api, developer);
    const { redeem, config } = await authorize(service.baseUrl, developer, registered);
    const { access_token } = await redeem();
    expect(await client.tokenIntrospection(config, access_token)).toMatchObject({ active: true });
    service.clock.advance(3_600_000);
    expect((await me(access_token)).status).toBe(401);
    expect(await client.tokenIntrospection(config, access_token)).toEqual({ active: false });
    await expect(client.fetchUserInfo(config, access_token, developer.developerId)).rejects.toThrow();
  });

  test('PKCE with S256 is required of every client', async () => {
    const registered = await newClient(service.api, developer);
    const config = await discover(service.baseUrl, registered);
    const parameters = { redirect_uri: REDIRECT_URI, scope: 'read' };
    const { browser } = await authorize(service.baseUrl, developer, registered);
    const plain: Record<string, string> = { code_challenge: 'x'.repeat(43), code_challenge_method: 'plain' };
    for (const more of [{}, plain]) {
      const { url } = await browser.open(client.buildAuthorizationUrl(config, { ...parameters, ...more }));
      expect(url.searchParams.get('error')).toBe('invalid_request');
      expect(url.searchParams.get('iss')).toBe(service.baseUrl);
    }
  });

  test('an unregistered redirect URI gets nothing', async () => {
    const registered = await newClient(service.api, developer);
    const config = await discover(service.baseUrl, registered);
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: 'https://elsewhere.example/',
      scope: 'read',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const shown = await new Browser(service.baseUrl).open(url);
    expect(shown.status).toBe(400);
    expect(shown.html).toContain('invalid_redirect_uri');
    expect(shown.html).not.toContain('elsewhere');
  });

  test('a signed-in developer who has consented sees no page', async () => {
    const registered = await newClient(service.api, developer);
    const { browser } = await authorize(service.baseUrl, developer, registered);
    const signedOut = { ...developer, email: '', password: '' };
    const { redeem } = await authorize(service.baseUrl, signedOut, registered, { prompt: 'none' }, browser);
    expect((await redeem()).scope).toBe('openid email read');
  });

  test('without a sign-in, prompt=none leads to an error page', async () => {
    const registered = await newClient(service.api, developer);
    const { url } = await beginAuthorization(service.baseUrl, registered, { prompt: 'none' });
    const { status, html } = await new Browser(service.baseUrl).open(url);
    expect(status).toBe(400);
    expect(html).toContain('<code>login_required</code>');
  });

  test('a sign-in lasts eight hours', async () => {
    const registered = await newClient(service.api, developer);
    const { browser } = await authorize(service.baseUrl, developer, registered);
    service.clock.advance(8 * 3_600_000);
    const { url } = await beginAuthorization(service.baseUrl, registered, { prompt: 'none' });
    expect((await browser.open(url)).html).toContain('<code>login_required</code>');
  });

  test('another developer can sign in in the same browser', async () => {
    const other = await newDeveloper(service.api);
    const registered = await newClient(service.api, developer);
    const { browser } = await authorize(service.baseUrl, developer, registered);
    const { redeem } = await authorize(service.baseUrl, other, registered, { prompt: 'login' }, browser);
    expect((await redeem()).claims()?.sub).toBe(other.developerId);
  });

  test('a refusal on the page is reported to the client', async () => {
    const registered = await newClient(service.api, developer);
    const config = await discover(service.baseUrl, registered);
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'read',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const browser = new Browser(service.baseUrl);
    const wrong = await browser.send(await browser.open(url), {
      email: developer.email,
      password: 'not the password',
      action: 'sign-in',
    });
    expect(wrong.status).toBe(401);
    expect(wrong.html).toContain('role="alert"');
    const page = await browser.send(wrong, { ...developer, action: 'sign-in' });
    expect(page.html).toContain('value="allow"');
    const end = await browser.send(page, { action: 'deny' });
    expect(end.url.searchParams.get('error')).toBe('access_denied');
  });

  test('a page of another browser or an expired one shows an error', async () => {
    const registered = await newClient(service.api, developer);
    const config = await discover(service.baseUrl, registered);
    const browser = new Browser(service.baseUrl);
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'read',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const signIn = await browser.open(url);
    const foreign = await new Browser(service.baseUrl).send(signIn, { ...developer, action: 'sign-in' });
    expect(foreign.status).toBe(400);
    const forged = await browser.open(signIn.url, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams({ ...developer, action: 'sign-in' }),
    });
    expect(forged.status).toBe(403);
    await consent(browser, signIn, developer);
    expect((await browser.open(signIn.url)).status).toBe(400);
  });

  test('a client gets no scope that it is not registered for', async () => {
    const registered = await newClient(service.api, developer, { scopes: ['openid', 'read'] });
    const { redeem, browser } = await authorize(service.baseUrl, developer, registered, { scope: 'read' });
    const more = await beginAuthorization(service.baseUrl, registered, { scope: 'openid read write' });
    const { url } = await browser.open(more.url);
    expect(url.searchParams.get('error')).toBe('invalid_scope');
    const { access_token, id_token } = await redeem();
    expect(id_token).toBeUndefined();
    const app = await service.api.post('/api/v2/dev/apps', { name: 'An app' }, { token: access_token });
    expect(app).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
  });

  test('a response can be sent by a form, on a page without other scripts', async () => {
    const registered = await newClient(service.api, developer);
    const { browser, config } = await authorize(service.baseUrl, developer, registered);
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid email read',
      response_mode: 'form_post',
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    const { html, headers } = await browser.open(url);
    expect(html).toContain(`action="${REDIRECT_URI}"`);
    expect(headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^' ]{44}'/);
  });
});

describe('refresh tokens', () => {
  test('each is valid once, and a second use revokes the authorization', async () => {
    const registered = await newClient(service.api, developer);
    const { config, redeem } = await authorize(service.baseUrl, developer, registered);
    const first = await redeem();
    const second = await client.refreshTokenGrant(config, first.refresh_token!);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second.scope).toBe('openid email read');
    expect((await me(second.access_token)).status).toBe(200);
    expect((await me(first.access_token)).status).toBe(200);
    expect(await failing(client.refreshTokenGrant(config, first.refresh_token!))).toBe('invalid_grant');
    for (const { access_token } of [first, second]) expect((await me(access_token)).status).toBe(401);
    expect(await failing(client.refreshTokenGrant(config, second.refresh_token!))).toBe('invalid_grant');
  });

  test('they last two weeks from their last use, and thirty days in total', async () => {
    const registered = await newClient(service.api, developer);
    const { config, redeem } = await authorize(service.baseUrl, developer, registered);
    const { refresh_token: unused } = await (
      await authorize(service.baseUrl, developer, registered)
    ).redeem();
    let token = (await redeem()).refresh_token!;
    const days = 86_400_000;
    for (let round = 0; round < 2; round += 1) {
      service.clock.advance(13 * days);
      token = (await client.refreshTokenGrant(config, token)).refresh_token!;
    }
    expect(await failing(client.refreshTokenGrant(config, unused!))).toBe('invalid_grant');
    service.clock.advance(3.9 * days);
    token = (await client.refreshTokenGrant(config, token)).refresh_token!;
    service.clock.advance(0.2 * days);
    expect(await failing(client.refreshTokenGrant(config, token))).toBe('invalid_grant');
  });

  test('fewer scopes can be requested, more cannot', async () => {
    const registered = await newClient(service.api, developer);
    const { config, redeem } = await authorize(service.baseUrl, developer, registered);
    const { refresh_token } = await redeem();
    expect(await failing(client.refreshTokenGrant(config, refresh_token!, { scope: 'read write' }))).toBe(
      'invalid_scope',
    );
    const fewer = await client.refreshTokenGrant(config, refresh_token!, { scope: 'read' });
    expect(fewer.scope).toBe('read');
  });

  test('a client without the grant type gets none', async () => {
    const registered = await newClient(service.api, developer, { grant_types: ['authorization_code'] });
    const { redeem } = await authorize(service.baseUrl, developer, registered);
    expect((await redeem()).refresh_token).toBeUndefined();
  });
});

describe('resource indicators', () => {
  test.each(['', '/', '/mcp', '/mcp/'])('a token for {base_url}%s', async (path) => {
    const registered = await newClient(service.api, developer);
    const resource = `${service.baseUrl}${path}`;
    const { config, redeem } = await authorize(service.baseUrl, developer, registered, { resource });
    const { access_token } = await redeem({ resource });
    const audience = resource.replace(/\/$/, '');
    expect(decodeJwt(access_token).aud).toBe(audience);
    const isForMcp = audience.endsWith('/mcp');
    expect((await me(access_token)).status).toBe(isForMcp ? 401 : 200);

    const info = await fetch(config.serverMetadata().userinfo_endpoint!, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    const claims = (await info.json()) as object;
    if (!isForMcp) return expect(claims).toMatchObject({ sub: developer.developerId });
    expect(info.status).toBe(401);
    expect(info.headers.get('www-authenticate')).toBe('Bearer realm="latchkey", error="invalid_token"');
    expect(claims).toMatchObject({ error: 'invalid_token' });
  });

  test('others are refused', async () => {
    const registered = await newClient(service.api, developer);
    const resource = 'https://elsewhere.example';
    const { redeem, browser } = await authorize(service.baseUrl, developer, registered);
    const begun = await beginAuthorization(service.baseUrl, registered, { resource });
    const { url } = await browser.open(begun.url);
    expect(url.searchParams.get('error')).toBe('invalid_target');
    expect(await failing(redeem({ resource: `${service.baseUrl}/mcp` }))).toBe('invalid_target');
  });
});
