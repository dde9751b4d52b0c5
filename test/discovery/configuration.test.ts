import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { createAddresses } from '../../src/foundation/addresses/addresses.ts';
import { createDiscovery, type Discovery } from '../../src/access/discovery/discovery.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

interface Configuration {
  readonly baseUrl: string;
  readonly webUrl: string;
  readonly trustsIssuers: boolean;
}

async function discoveryOf({ baseUrl, webUrl, trustsIssuers }: Configuration): Promise<Discovery> {
  return createDiscovery({
    addresses: createAddresses(
      () => baseUrl,
      () => webUrl,
    ),
    contract: () => contract,
    mcp: { tools: [], protocolVersions: async () => [] },
    authorizationServer: async () => ({
      issuer: baseUrl,
      scopes_supported: ['openid', 'write', 'read'],
      grant_types_supported: ['authorization_code', JWT_BEARER],
    }),
    trustsIssuers,
    agentRevoked: () => `${webUrl}/schemas/events/agent-revoked`,
  });
}

const HOSTS = { baseUrl: 'https://api.example.com', webUrl: 'https://www.example.com' };
const trusting = await discoveryOf({ ...HOSTS, trustsIssuers: true });
const alone = await discoveryOf({ ...HOSTS, trustsIssuers: false });

const read = async (discovery: Discovery, path: string, host?: string) =>
  JSON.parse((await discovery.read(path, host)).text) as Record<string, unknown>;

describe('issuers of agents', () => {
  const METADATA = '/.well-known/oauth-authorization-server';

  test('are documented if they are configured', async () => {
    expect(await read(trusting, METADATA)).toMatchObject({
      grant_types_supported: ['authorization_code', JWT_BEARER],
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
      agent_auth: {
        identity_assertion: { assertion_types_supported: [ID_JAG, 'verified_email'] },
        events_supported: [`${HOSTS.webUrl}/schemas/events/agent-revoked`],
      },
    });
    const { text } = await trusting.read('/auth.md', undefined);
    expect(text).toContain('Agent verified');
    expect(text).toContain('application/secevent+jwt');
  });

  test('are absent if none are configured', async () => {
    const metadata = await read(alone, METADATA);
    expect(metadata).not.toHaveProperty('authorization_grant_profiles_supported');
    expect(metadata).toMatchObject({
      grant_types_supported: ['authorization_code'],
      agent_auth: {
        identity_assertion: { assertion_types_supported: ['verified_email'] },
        events_supported: [],
      },
    });
    expect((await alone.read('/auth.md', undefined)).text).not.toMatch(/id-jag|issuer|secevent/i);
  });

  test('leave no template marks in the documents', async () => {
    for (const discovery of [trusting, alone]) {
      for (const path of ['/auth.md', '/llms.txt', '/.well-known/agent-skills/auth/SKILL.md']) {
        expect((await discovery.read(path, undefined)).text, path).not.toMatch(
          /<!--|\{(base|web)_url\}|\n{3}/,
        );
      }
    }
  });
});

describe('two hosts', () => {
  const RESOURCE = '/.well-known/oauth-protected-resource';

  test.each([
    ['www.example.com', HOSTS.webUrl],
    ['WWW.Example.com', HOSTS.webUrl],
    ['api.example.com', HOSTS.baseUrl],
    ['elsewhere.example', HOSTS.baseUrl],
    [undefined, HOSTS.baseUrl],
  ])('requested as %s, the resource is %s', async (host, resource) => {
    expect(await read(alone, RESOURCE, host)).toMatchObject({
      resource,
      authorization_servers: [HOSTS.baseUrl],
      scopes_supported: ['write', 'read'],
    });
    expect(await read(alone, `${RESOURCE}/mcp`, host)).toMatchObject({
      resource: `${HOSTS.baseUrl}/mcp`,
    });
  });

  test('the name of the MCP server is the reversed web host', async () => {
    expect(await read(alone, '/mcp/server-card')).toMatchObject({ name: 'com.example.www/latchkey' });
    const numbers = await discoveryOf({
      baseUrl: 'http://127.0.0.1:3000',
      webUrl: 'http://[::1]:3000',
      trustsIssuers: false,
    });
    expect(await read(numbers, '/mcp/server-card')).toMatchObject({ name: 'localhost/latchkey' });
  });

  test('pages are at the web host, requests go to the API', async () => {
    const { text } = await alone.read('/.well-known/agent-skills/auth/SKILL.md', undefined);
    expect(text).toContain(`BASE=${HOSTS.baseUrl}\n`);
    expect(text).toContain(`${HOSTS.webUrl}/errors`);
    expect(text).not.toContain(`${HOSTS.webUrl}/api`);
  });
});

test('errors of the authorization server are thrown, not published', async () => {
  const discovery = await createDiscovery({
    addresses: createAddresses(
      () => HOSTS.baseUrl,
      () => HOSTS.webUrl,
    ),
    contract: () => contract,
    mcp: { tools: [], protocolVersions: async () => [] },
    authorizationServer: async () => {
      throw new Error('lost');
    },
    trustsIssuers: false,
    agentRevoked: () => '',
  });
  await expect(discovery.read('/.well-known/openid-configuration', undefined)).rejects.toThrow('lost');
  expect((await discovery.read('/llms.txt', undefined)).text).toContain('# Latchkey');
});
