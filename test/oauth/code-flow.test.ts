import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { authorize, Browser, consent, discover, newClient, REDIRECT_URI } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let developer: Developer;
beforeAll(async () => {
  service = await startTestService();
  developer = await newDeveloper(service.api);
});

const me = (token: string) => service.api.call('GET', '/api/v2/dev/me', undefined, { token });

describe('authorization code with PKCE', () => {
  test('a client gets tokens that open the API, and whom they are for', async () => {
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
});
