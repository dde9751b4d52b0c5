import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { authorize, discover, newClient } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let developer: Developer;
beforeAll(async () => {
  service = await startTestService();
  developer = await newDeveloper(service.api);
});

const me = (token: string) => service.api.call('GET', '/api/v2/dev/me', undefined, { token });
const MACHINE = { redirect_uris: [], grant_types: ['client_credentials' as const] };

async function machine(owner = developer) {
  const registered = await newClient(service.api, owner, { ...MACHINE, scopes: ['openid', 'read', 'write'] });
  return { registered, config: await discover(service.baseUrl, registered) };
}

describe('client credentials', () => {
  test('a client acts for the developer who registered it', async () => {
    const { registered, config } = await machine();
    const tokens = await client.clientCredentialsGrant(config, { scope: 'read' });
    expect(tokens).toMatchObject({ scope: 'read', expires_in: 3600 });
    expect(tokens.refresh_token).toBeUndefined();
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      sub: registered.client_id,
      client_id: registered.client_id,
      aud: service.baseUrl,
    });
    expect(await me(tokens.access_token)).toMatchObject({
      status: 200,
      body: { developer_id: developer.developerId },
    });
  });

  test('without a scope, it gets its registered scopes, except those about a person', async () => {
    const { config } = await machine();
    expect((await client.clientCredentialsGrant(config)).scope).toBe('read write');
    const granted = await client.clientCredentialsGrant(config, { scope: 'openid read' });
    expect(granted.scope).toBe('read');
    await expect(client.fetchUserInfo(config, granted.access_token, developer.developerId)).rejects.toThrow();
    await expect(client.clientCredentialsGrant(config, { scope: 'auth:dev' })).rejects.toMatchObject({
      error: 'invalid_scope',
    });
  });

  test('a wrong secret is refused, and many of them do not lock out the right one', async () => {
    const { registered, config } = await machine();
    const wrong = await discover(service.baseUrl, { ...registered, client_secret: 'wrong' });
    for (let failure = 0; failure < 10; failure += 1) {
      await expect(client.clientCredentialsGrant(wrong)).rejects.toMatchObject({ status: 401 });
    }
    const refused = await fetch(config.serverMetadata().token_endpoint!, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
      headers: { authorization: `Basic ${btoa(`${registered.client_id}:wrong`)}` },
    });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.headers.get('content-type')).toContain('application/json');
    expect((await client.clientCredentialsGrant(config)).access_token).toBeDefined();
  });
});

describe('introspection and revocation', () => {
  test('a client can introspect and revoke its own tokens', async () => {
    const { registered, config } = await machine();
    const { access_token } = await client.clientCredentialsGrant(config);
    expect(await client.tokenIntrospection(config, access_token)).toEqual({
      active: true,
      iss: service.baseUrl,
      client_id: registered.client_id,
      sub: registered.client_id,
      jti: decodeJwt(access_token).jti,
      scope: 'read write',
      aud: service.baseUrl,
      iat: Math.floor(service.clock.now().getTime() / 1000),
      exp: Math.floor(service.clock.now().getTime() / 1000) + 3600,
      token_type: 'Bearer',
    });
    await client.tokenRevocation(config, access_token);
    expect(await client.tokenIntrospection(config, access_token)).toEqual({ active: false });
    expect((await me(access_token)).status).toBe(401);
  });

  test("a client of the developer can introspect the developer's other tokens, but not revoke them", async () => {
    const { config } = await machine();
    const apiToken = await service.api.post<{ token: string }>(
      '/api/v2/dev/tokens',
      { name: 'A token', scopes: ['read'] },
      { token: developer.token },
    );
    const other = await client.clientCredentialsGrant((await machine()).config);
    for (const token of [developer.token, apiToken.body.token, other.access_token]) {
      expect(await client.tokenIntrospection(config, token)).toMatchObject({ active: true });
      await client.tokenRevocation(config, token);
      expect((await me(token)).status).toBe(200);
    }
    expect(await client.tokenIntrospection(config, apiToken.body.token)).toMatchObject({
      sub: developer.developerId,
      scope: 'read',
    });
  });

  test('tokens of another developer are inactive', async () => {
    const stranger = await newDeveloper(service.api);
    const { config } = await machine(stranger);
    const own = await client.clientCredentialsGrant((await machine()).config);
    const registered = await newClient(service.api, developer);
    const granted = await (await authorize(service.baseUrl, developer, registered)).redeem();
    for (const token of [developer.token, own.access_token, granted.access_token, granted.refresh_token!]) {
      expect(await client.tokenIntrospection(config, token)).toEqual({ active: false });
      await client.tokenRevocation(config, token);
    }
    expect((await me(granted.access_token)).status).toBe(200);
  });

  test('a revoked refresh token ends its authorization, a revoked access token only itself', async () => {
    const registered = await newClient(service.api, developer);
    const { config, redeem } = await authorize(service.baseUrl, developer, registered);
    const first = await redeem();
    expect(await client.tokenIntrospection(config, first.refresh_token!)).toMatchObject({ active: true });
    await client.tokenRevocation(config, first.access_token);
    expect((await me(first.access_token)).status).toBe(401);
    const second = await client.refreshTokenGrant(config, first.refresh_token!);
    await client.tokenRevocation(config, second.refresh_token!, { token_type_hint: 'refresh_token' });
    expect((await me(second.access_token)).status).toBe(401);
    await expect(client.refreshTokenGrant(config, second.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test.each(['', 'nonsense', 'a.b.c', 'presented:AAAA', 'lkd_nonsense', '\u0000', 'x'.repeat(9000)])(
    'an invalid token is inactive: %j',
    async (token) => {
      const { config } = await machine();
      if (token === '')
        return void (await expect(client.tokenIntrospection(config, token)).rejects.toThrow());
      expect(await client.tokenIntrospection(config, token)).toEqual({ active: false });
      await client.tokenRevocation(config, token);
    },
  );
});
