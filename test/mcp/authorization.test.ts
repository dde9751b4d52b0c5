import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { newApp, newDeveloper, newHwid, newSession, newUser } from '../support/fixtures.ts';
import { ADMIN_TOKEN, startTestService } from '../support/service.ts';
import { accessToken, apiToken, connectAgent, LIST, send } from './client.ts';

const service = await startTestService();
const { api, baseUrl } = service;
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const foreign = await newApp(api);
const metadata = `${baseUrl}/.well-known/oauth-protected-resource/mcp`;
const ALL = ['agent:execute', 'read', 'write'];

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const own = (scopes: readonly string[], audience = `${baseUrl}/mcp`) =>
  accessToken(service, developer.developerId, { scopes, audience });
const callOf = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 'call',
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('without a valid token', async () => {
  const { token: session } = await newSession(api, app);
  const reseller = await api.post(
    '/api/v2/dev/resellers',
    { name: 'Reseller', email: 'reseller@example.com' },
    { token: developer.token },
  );
  const resellers = await api.post(
    `/api/v2/dev/resellers/${String(reseller.body['reseller_id'])}/tokens`,
    { name: 'Reseller', scopes: ['read'] },
    { token: developer.token },
  );
  const ended = await newDeveloper(api);
  await api.post('/api/v2/dev/logout', undefined, { token: ended.token });
  const revoked = await own(ALL);
  await service.services.accessTokens.revoke(service.database.knex, {
    tokenDigest: (await service.services.accessTokens.authenticate(revoked))!.tokenDigest,
  });

  test.each<[string, Record<string, string>, boolean]>([
    ['none', {}, false],
    ['another scheme', { authorization: 'Basic YTpi' }, false],
    ['nonsense', bearer('nonsense'), true],
    ["an end user's session", bearer(session), true],
    ["a reseller's", bearer(String(resellers.body['token'])), true],
    ["the administrator's", bearer(ADMIN_TOKEN), true],
    ['a session that was ended', bearer(ended.token), true],
    ['an access token that was revoked', bearer(revoked), true],
    ['an access token for another audience', bearer(await own(ALL, 'https://elsewhere.example')), true],
    ['an access token for a path of ours', bearer(await own(ALL, `${baseUrl}/mcp/`)), true],
  ])('%s', async (_, headers, isToken) => {
    const response = await send(baseUrl, LIST, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer realm="latchkey", resource_metadata="${metadata}", ` +
        `${isToken ? 'error="invalid_token", ' : ''}scope="agent:execute read"`,
    );
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: {
        code: -32_000,
        data: { code: 'UNAUTHORIZED', request_id: response.headers.get('x-request-id') },
      },
    });
  });

  test('no body is read', async () => {
    expect((await send(baseUrl, '{', {})).status).toBe(401);
  });

  test('an OAuth client can discover the authorization server', async () => {
    const response = await send(baseUrl, LIST);
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    expect(resourceMetadataUrl!.href).toBe(metadata);
    expect(scope).toBe('agent:execute read');
  });
});

test('the client of the SDK fetches the metadata that a 401 names', async () => {
  const urls: string[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), {
    authProvider: {
      redirectUrl: 'http://127.0.0.1/callback',
      clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
      clientInformation: () => undefined,
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => '',
    },
    fetch: (url, init) => {
      urls.push(String(url));
      if (String(url) !== metadata) return fetch(url, init);
      return Promise.resolve(
        Response.json({ resource: `${baseUrl}/mcp`, authorization_servers: ['https://issuer.example'] }),
      );
    },
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  // The rest is up to the authorization server, which does not exist in this test.
  await expect(client.connect(transport as Parameters<Client['connect']>[0])).rejects.toThrow();
  expect(urls.slice(0, 2)).toEqual([`${baseUrl}/mcp`, metadata]);
  expect(urls[2]).toMatch(/^https:\/\/issuer\.example\/\.well-known\//);
});

describe('an access token', () => {
  test.each([['/mcp'], ['']])('for {base_url}%s works', async (path) => {
    const agent = await connectAgent(baseUrl, await own(ALL, baseUrl + path));
    const { isError, content } = await agent.call('list_applications');
    expect(isError).toBe(false);
    expect(content).toMatchObject({ data: [{ app_id: app.app_id }] });
    const account = await agent.call('get_account');
    expect(account.content).toMatchObject({ actor: { kind: 'oauth_client' } });
  });

  test('for MCP is not valid for the rest of the API', async () => {
    const token = await own(ALL);
    expect((await api.call('GET', '/api/v2/dev/apps', undefined, { token })).status).toBe(401);
  });

  test('calls are in the audit log with the client', async () => {
    const agent = await connectAgent(baseUrl, await own(ALL));
    const fresh = await newUser(api, app);
    const found = await agent.call('find_users', { app_id: app.app_id, q: fresh.username });
    const [{ user_id }] = found.content!['data'] as [{ user_id: string }];
    await agent.call('reset_hardware', { app_id: app.app_id, user_id });
    const { body } = await api.call('GET', `/api/v2/dev/audit-log?target=${user_id}`, undefined, developer);
    expect(body['data']).toMatchObject([{ actor: { kind: 'oauth_client', address: '127.0.0.1' } }]);
  });

  test('without an account lists the tools and uses the sandbox', async () => {
    const token = await accessToken(service, null, { scopes: ['agent:execute'], audience: baseUrl });
    const agent = await connectAgent(baseUrl, token);
    expect((await agent.client.listTools()).tools.length).toBeGreaterThan(8);
    const login = await agent.call('sandbox_login', { app_id: 'a', username: 'b', hwid: newHwid() });
    expect(login.isError).toBe(false);
    const refused = await send(baseUrl, callOf('get_account'), bearer(token));
    expect(refused.status).toBe(403);
  });
});

describe('a token without the scope gets the name of the scope', () => {
  test.each([
    [['read', 'write'], LIST, 'agent:execute read write'],
    [['auth:dev'], LIST, 'agent:execute'],
    [['agent:execute'], callOf('list_applications'), 'agent:execute read'],
    [['agent:execute', 'auth:dev', 'read'], callOf('generate_licenses'), 'agent:execute read write'],
    [['agent:execute', 'write'], callOf('find_users'), 'agent:execute write read'],
  ])('%j', async (scopes, message, wanted) => {
    for (const token of [await own(scopes), await apiToken(api, developer.token, scopes)]) {
      const response = await send(baseUrl, message, bearer(token));
      expect(response.status).toBe(403);
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer realm="latchkey", resource_metadata="${metadata}", error="insufficient_scope", scope="${wanted}"`,
      );
      const { id = null } = 'params' in message ? message : {};
      expect(await response.json()).toMatchObject({ id, error: { data: { code: 'INSUFFICIENT_SCOPE' } } });
    }
  });

  test('before the call', async () => {
    const count = async () => {
      const { body } = await api.call('GET', `/api/v2/dev/apps/${app.app_id}/licenses`, undefined, developer);
      return (body['data'] as []).length;
    };
    const before = await count();
    const args = { app_id: app.app_id, amount: 1, duration_days: 1, tier: 'Pro' };
    const token = await own(['agent:execute', 'read']);
    expect((await send(baseUrl, callOf('generate_licenses', args), bearer(token))).status).toBe(403);
    expect(await count()).toBe(before);
  });

  test('but not for a tool that does not exist', async () => {
    const response = await send(baseUrl, callOf('none'), bearer(await own(['agent:execute'])));
    expect(response.status).toBe(200);
  });
});

test("another developer's resources look as if they did not exist", async () => {
  const agent = await connectAgent(baseUrl, developer.token);
  const comparable = async (name: string, args: Record<string, unknown>) => {
    const { isError, text } = await agent.call(name, args);
    expect(isError).toBe(true);
    return text.replace(/Request: \S+/, '');
  };
  const stranger = await newUser(api, foreign);
  const users = await api.call(
    'GET',
    `/api/v2/dev/apps/${foreign.app_id}/users?q=${stranger.username}`,
    undefined,
    {
      token: foreign.token,
    },
  );
  const [{ user_id }] = users.body['data'] as [{ user_id: string }];
  const missing = (id: string) => id.slice(0, -4) + 'zzzz';
  for (const name of ['find_users', 'list_licenses', 'get_statistics']) {
    const there = await comparable(name, { app_id: foreign.app_id });
    expect(there).toContain('APPLICATION_NOT_FOUND');
    expect(there, name).toBe(await comparable(name, { app_id: missing(foreign.app_id) }));
  }
  for (const name of ['get_user', 'reset_hardware']) {
    const app_id = app.app_id;
    const there = await comparable(name, { app_id, user_id });
    expect(there).toContain('USER_NOT_FOUND');
    expect(there, name).toBe(await comparable(name, { app_id, user_id: missing(user_id) }));
  }
});
