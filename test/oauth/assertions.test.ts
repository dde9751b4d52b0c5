import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApiError } from '../../src/errors/api-error.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { discover, newClient } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const AGENT = 'agt_01kb0p5c9hf4r7t0v3x6z9b2d5';

let service: TestService;
let developer: Developer;
let config: client.Configuration;
let clientId: string;
let basic: string;
beforeAll(async () => {
  service = await startTestService();
  developer = await newDeveloper(service.api);
  const registered = await newClient(service.api, developer, {
    redirect_uris: [],
    grant_types: [JWT_BEARER],
    scopes: ['read', 'agent:execute'],
  });
  clientId = registered.client_id;
  basic = `Basic ${btoa(`${clientId}:${registered.client_secret}`)}`;
  config = await discover(service.baseUrl, registered);
});
afterEach(() => vi.restoreAllMocks());

const exchange = (parameters: Record<string, string>) =>
  client.genericGrantRequest(config, JWT_BEARER, parameters);
const assertions = () => vi.spyOn(service.services.agents, 'exchangeAssertion');
const isAgent = async () => ({
  agentId: AGENT,
  developerId: developer.developerId,
  scopes: ['read', 'write', 'agent:execute'] as const,
});

describe('an assertion of an agent’s provider', () => {
  test('gives an access token that acts for the developer, and no refresh token', async () => {
    const asked = assertions().mockImplementation(isAgent);
    const tokens = await exchange({ assertion: 'an.id.jag' });
    expect(asked).toHaveBeenCalledWith('an.id.jag', clientId, { address: '127.0.0.1' });
    expect(tokens).toMatchObject({ expires_in: 3600, scope: 'read agent:execute' });
    expect(tokens.refresh_token).toBeUndefined();
    expect(decodeJwt(tokens.access_token)).toMatchObject({ sub: developer.developerId, client_id: clientId });
    const { access_token: token } = tokens;
    expect((await service.api.call('GET', '/api/v2/dev/apps', undefined, { token })).status).toBe(200);
    expect(await client.tokenIntrospection(config, token)).toMatchObject({
      active: true,
      client_id: clientId,
    });
    await service.services.accessTokens.revoke(service.database.knex, { agentId: AGENT });
    expect((await service.api.call('GET', '/api/v2/dev/apps', undefined, { token })).status).toBe(401);
  });

  test('can be for fewer scopes and for another resource', async () => {
    assertions().mockImplementation(isAgent);
    const resource = `${service.baseUrl}/mcp`;
    const { scope, access_token } = await exchange({ assertion: 'an.id.jag', scope: 'read write', resource });
    expect(scope).toBe('read');
    expect(decodeJwt(access_token).aud).toBe(resource);
    await expect(
      exchange({ assertion: 'an.id.jag', resource: 'https://elsewhere.example' }),
    ).rejects.toMatchObject({
      error: 'invalid_target',
    });
  });

  test.each(['INVALID_ASSERTION', 'INTERACTION_REQUIRED'] as const)(
    '%s is an invalid grant',
    async (code) => {
      assertions().mockRejectedValue(new ApiError(code));
      await expect(exchange({ assertion: 'an.id.jag' })).rejects.toMatchObject({
        status: 400,
        error: 'invalid_grant',
      });
    },
  );

  test('one that is missing is an invalid request', async () => {
    await expect(exchange({})).rejects.toMatchObject({ error: 'invalid_request' });
  });
});

describe('without a database', () => {
  const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const token = () =>
    fetch(`${service.baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { authorization: basic },
      body: new URLSearchParams({ grant_type: JWT_BEARER, assertion: 'an.id.jag' }),
    });

  test.each([
    ['at once', () => vi.spyOn(service.services.signingKeys, 'ensure').mockRejectedValue(lost)],
    [
      'while a client is let in',
      () => vi.spyOn(service.services.limits, 'assertMayTry').mockRejectedValue(lost),
    ],
    ['while it is served', () => assertions().mockRejectedValue(lost)],
  ])('programs are told to come back, in JSON: lost %s', async (_when, lose) => {
    lose();
    const response = await token();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });

  test('people see a page, and nothing shows what has failed', async () => {
    vi.spyOn(service.services.signingKeys, 'ensure').mockRejectedValue(new Error('a secret of ours'));
    const shown = await fetch(`${service.baseUrl}/oauth/interaction/x`);
    expect(shown.status).toBe(500);
    expect(shown.headers.get('content-type')).toContain('text/html');
    expect(await shown.text()).not.toContain('secret of ours');
    const answered = await token();
    expect(answered.status).toBe(500);
    expect(await answered.text()).not.toContain('secret of ours');
  });
});
