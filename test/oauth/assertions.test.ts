import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { sendEvent } from '../operations/support/agents.ts';
import { reinstate, suspend } from '../operations/support/developer-accounts.ts';
import { newDeveloper, type Developer } from '../support/fixtures.ts';
import { startIdentityProvider, trusting } from '../support/identity-provider.ts';
import { discover, newClient } from '../support/oauth.ts';
import { startTestService, type TestService } from '../support/service.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const provider = await startIdentityProvider({ now: () => service.clock.now() });
let service: TestService;
let developer: Developer;
let config: client.Configuration;
let clientId: string;
let basic: string;
let wrongSecret: string;
beforeAll(async () => {
  service = await startTestService(trusting(provider.issuer));
  developer = await newDeveloper(service.api);
  const registered = await newClient(service.api, developer, {
    redirect_uris: [],
    grant_types: [JWT_BEARER],
    scopes: ['read', 'agent:execute'],
  });
  clientId = registered.client_id;
  basic = `Basic ${btoa(`${clientId}:${registered.client_secret}`)}`;
  wrongSecret = `Basic ${btoa(`${clientId}:wrong`)}`;
  config = await discover(service.baseUrl, registered);
});
afterEach(() => vi.restoreAllMocks());

const exchange = (parameters: Record<string, string>) =>
  client.genericGrantRequest(config, JWT_BEARER, parameters);
const assertion = (claims: Readonly<Record<string, unknown>> = {}) =>
  provider.grant(service.baseUrl, { claims: { client_id: clientId, ...claims } });

describe('an assertion of an agent’s provider', () => {
  test('gives an access token that acts for its subject until it is revoked, and no refresh token', async () => {
    const tokens = await exchange({ assertion: await assertion({ sub: 'ada' }) });
    expect(tokens).toMatchObject({ expires_in: 3600, scope: 'read agent:execute' });
    expect(tokens.refresh_token).toBeUndefined();
    const { access_token: token } = tokens;
    const apps = () => service.api.call('GET', '/api/v2/dev/apps', undefined, { token });
    expect((await apps()).status).toBe(200);
    const me = await service.api.call('GET', '/api/v2/dev/me', undefined, { token });
    expect(decodeJwt(token)).toMatchObject({ sub: me.body['developer_id'], client_id: clientId });
    expect(me.body).toMatchObject({ actor: { kind: 'agent' }, scopes: ['read', 'agent:execute'] });
    expect(await client.tokenIntrospection(config, token)).toMatchObject({
      active: true,
      client_id: clientId,
    });
    const event = await provider.event(service.baseUrl, 'secevent+jwt', { claims: { sub: 'ada' } });
    expect((await sendEvent(service.api, event, 'secevent+jwt')).status).toBe(202);
    expect((await apps()).status).toBe(401);
    expect(await client.tokenIntrospection(config, token)).toEqual({ active: false });
  });

  test('gives nothing while its developer is suspended', async () => {
    const tokens = await exchange({ assertion: await assertion({ sub: 'eve' }) });
    const { developer_id: developerId } = (
      await service.api.call('GET', '/api/v2/dev/me', undefined, { token: tokens.access_token })
    ).body as { developer_id: string };
    await suspend(service.api, developerId);
    await expect(exchange({ assertion: await assertion({ sub: 'eve' }) })).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await reinstate(service.api, developerId);
    expect(await exchange({ assertion: await assertion({ sub: 'eve' }) })).toMatchObject({
      scope: 'read agent:execute',
    });
  });

  test('can be for fewer scopes and for another resource', async () => {
    const resource = `${service.baseUrl}/mcp`;
    const { scope, access_token } = await exchange({
      assertion: await assertion(),
      scope: 'read write',
      resource,
    });
    expect(scope).toBe('read');
    expect(decodeJwt(access_token).aud).toBe(resource);
    await expect(
      exchange({ assertion: await assertion(), resource: 'https://elsewhere.example' }),
    ).rejects.toMatchObject({
      error: 'invalid_target',
    });
  });

  test('that was used, or is for another client, is an invalid grant', async () => {
    const used = await assertion();
    await exchange({ assertion: used });
    for (const refused of [used, await assertion({ client_id: 'another' }), 'an.id.jag']) {
      await expect(exchange({ assertion: refused })).rejects.toMatchObject({ error: 'invalid_grant' });
    }
  });

  test('of a developer who has not authorized the issuer is an invalid grant', async () => {
    const refused = await assertion({ email: developer.email });
    await expect(exchange({ assertion: refused })).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  test('that is missing is an invalid request', async () => {
    await expect(exchange({})).rejects.toMatchObject({ error: 'invalid_request' });
  });
});

describe('without a database', () => {
  const lost = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const token = (authorization = basic) =>
    fetch(`${service.baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams({ grant_type: JWT_BEARER, assertion: 'an.id.jag' }),
    });

  test.each([
    ['at once', () => vi.spyOn(service.services.signingKeys, 'ensure').mockRejectedValue(lost)],
    [
      'during the request',
      () => vi.spyOn(service.services.agents, 'exchangeAssertion').mockRejectedValue(lost),
    ],
  ])('programs get a retryable error as JSON: lost %s', async (_when, lose) => {
    lose();
    const response = await token();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });

  test('a client whose failure cannot be counted gets a retryable error, not a wrong secret', async () => {
    expect((await token(wrongSecret)).status).toBe(401);
    const counting = vi.spyOn(service.services.limits, 'countFailure').mockRejectedValue(lost);
    const response = await token(wrongSecret);
    expect(counting).toHaveBeenCalledOnce();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });

  test('people see a page that does not reveal the failure', async () => {
    vi.spyOn(service.services.signingKeys, 'ensure').mockRejectedValue(new Error('a secret of ours'));
    const shown = await fetch(`${service.baseUrl}/oauth/interaction/x`);
    expect(shown.status).toBe(500);
    expect(shown.headers.get('content-type')).toContain('text/html');
    expect(await shown.text()).not.toContain('secret of ours');
    const received = await token();
    expect(received.status).toBe(500);
    expect(await received.text()).not.toContain('secret of ours');
  });
});
