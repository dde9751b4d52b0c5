import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createHash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import * as client from 'openid-client';
import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { connectAgent } from '../mcp/client.ts';
import { startOnTwoHosts } from './support/two-hosts.ts';

const { api, baseUrl, webUrl } = await startOnTwoHosts();

const INSECURE = { [oauth.allowInsecureRequests]: true };

const read = async (address: string) =>
  (await (await fetch(address)).json()) as Record<string, unknown> & Record<string, never>;

describe('protected resources (RFC 9728)', () => {
  const discover = async (resource: string) => {
    const expected = new URL(resource);
    const response = await oauth.resourceDiscoveryRequest(expected, INSECURE);
    return oauth.processResourceDiscoveryResponse(expected, response);
  };

  test.each([
    ['of the API', baseUrl],
    ['of the web URL', webUrl],
    ['of the MCP endpoint', `${baseUrl}/mcp`],
  ])('%s is found by its URL, and names the issuer', async (_, resource) => {
    expect(await discover(resource)).toMatchObject({
      resource,
      resource_name: expect.stringContaining('Latchkey'),
      authorization_servers: [baseUrl],
      bearer_methods_supported: ['header'],
      resource_documentation: `${webUrl}/auth.md`,
    });
  });

  test('is that of the API for any other host', async () => {
    const { port } = new URL(baseUrl);
    const { request } = await import('node:http');
    const body = await new Promise<string>((resolve, reject) => {
      const headers = { host: 'evil.example' };
      request({ port, path: '/.well-known/oauth-protected-resource', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.once('end', () => resolve(text));
      })
        .once('error', reject)
        .end();
    });
    expect(JSON.parse(body)).toMatchObject({ resource: baseUrl });
    expect(body).not.toContain('evil');
  });

  test('is at the URL in a 401', async () => {
    for (const base of [baseUrl, webUrl]) {
      const response = await fetch(`${base}/api/v2/dev/me`);
      expect(response.status).toBe(401);
      const [, address] = /resource_metadata="([^"]+)"/.exec(response.headers.get('www-authenticate')!)!;
      expect(await read(address!)).toMatchObject({ resource: base });
    }
  });

  test('lists the scopes of its operations that can be granted', async () => {
    const { scopes_supported: granted } = await read(`${baseUrl}/.well-known/oauth-authorization-server`);
    const api = await discover(baseUrl);
    expect(api.scopes_supported).toEqual(['read', 'write', 'auth:dev', 'agent:register', 'agent:execute']);
    const mcp = await discover(`${baseUrl}/mcp`);
    expect(mcp.scopes_supported).toContain('agent:execute');
    for (const scope of [...api.scopes_supported!, ...mcp.scopes_supported!]) {
      expect(granted).toContain(scope);
    }
  });

  test('can be read by the client of the MCP SDK', async () => {
    const found = await discoverOAuthProtectedResourceMetadata(`${baseUrl}/mcp`);
    expect(found).toMatchObject({ resource: `${baseUrl}/mcp`, authorization_servers: [baseUrl] });
  });
});

describe('the authorization server (RFC 8414, OpenID Connect Discovery)', () => {
  const issuer = new URL(baseUrl);

  test.each(['oauth2', 'oidc'] as const)('can be read by oauth4webapi, as %s', async (algorithm) => {
    const response = await oauth.discoveryRequest(issuer, { algorithm, ...INSECURE });
    const server = await oauth.processDiscoveryResponse(issuer, response);
    expect(server).toMatchObject({
      issuer: baseUrl,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    for (const endpoint of [
      'authorization_endpoint',
      'token_endpoint',
      'jwks_uri',
      'registration_endpoint',
    ]) {
      expect(String(server[endpoint]).startsWith(`${baseUrl}/`), endpoint).toBe(true);
    }
  });

  test.each(['oauth2', 'oidc'] as const)('can be read by openid-client, as %s', async (algorithm) => {
    const execute = [client.allowInsecureRequests];
    const found = await client.discovery(issuer, 'a-client', undefined, client.None(), {
      algorithm,
      execute,
    });
    expect(found.serverMetadata()).toMatchObject({ issuer: baseUrl });
    expect(found.serverMetadata().supportsPKCE()).toBe(true);
  });

  test('can be read by the client of the MCP SDK', async () => {
    expect(await discoverAuthorizationServerMetadata(baseUrl)).toMatchObject({ issuer: baseUrl });
  });

  test('describes how agents register (auth.md v0.1)', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const { agent_auth } = await read(`${baseUrl}/.well-known/${name}`);
      expect(agent_auth).toEqual({
        skill: `${webUrl}/auth.md`,
        register_uri: `${baseUrl}/api/v1/agent/register`,
        claim_uri: `${baseUrl}/api/v1/agent/claim`,
        revocation_uri: `${baseUrl}/api/v1/agent/revoke`,
        identity_types_supported: ['identity_assertion', 'anonymous'],
        identity_assertion: {
          assertion_types_supported: ['verified_email'],
          credential_types_supported: ['bearer_token', 'jwt'],
        },
        anonymous: { credential_types_supported: ['ephemeral_key', 'sandbox_token'] },
        events_supported: [],
      });
    }
  });
});

describe('the MCP server card', () => {
  const CARD = {
    name: 'localhost/latchkey',
    version: contract.info.version,
    title: 'Latchkey',
    websiteUrl: webUrl,
    remotes: [{ type: 'streamable-http', url: `${baseUrl}/mcp` }],
  };

  test('is the same at all paths where clients look for it', async () => {
    const card = await read(`${baseUrl}/mcp/server-card`);
    expect(card).toMatchObject(CARD);
    expect(await read(`${webUrl}/.well-known/mcp/server-card.json`)).toEqual(card);
    const { entries } = await read(`${webUrl}/.well-known/ai-catalog.json`);
    expect(entries).toContainEqual(
      expect.objectContaining({
        type: 'application/mcp-server-card+json',
        url: `${baseUrl}/mcp/server-card`,
      }),
    );
  });

  test('matches what the endpoint reports to clients that connect', async () => {
    const manifest = await read(`${webUrl}/.well-known/mcp/manifest.json`);
    const { body } = await api.post<{ token: string }>('/api/v2/dev/register', {
      email: 'ada@example.com',
      password: 'correct horse battery staple',
    });
    const { client: connected } = await connectAgent(baseUrl, body.token);
    expect(manifest).toMatchObject({
      ...CARD,
      serverInfo: { name: 'latchkey', title: 'Latchkey', version: contract.info.version },
      authentication: {
        required: true,
        resource_metadata: `${baseUrl}/.well-known/oauth-protected-resource/mcp`,
        authorization_servers: [baseUrl],
      },
    });
    expect(connected.getServerVersion()).toMatchObject(manifest['serverInfo']!);
    expect(manifest['capabilities']).toEqual(connected.getServerCapabilities());
    expect(manifest['tools']).toEqual((await connected.listTools()).tools);
    expect(manifest['tools']).not.toHaveLength(0);
    await connected.close();
  });

  test('names the metadata to which the endpoint refers without a token', async () => {
    const { authentication } = (await read(`${webUrl}/.well-known/mcp/manifest.json`)) as unknown as {
      authentication: { resource_metadata: string };
    };
    const response = await fetch(`${baseUrl}/mcp`, { method: 'POST' });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain(
      `resource_metadata="${authentication.resource_metadata}"`,
    );
  });
});

describe('the skills', () => {
  test('are indexed with the digests of their files', async () => {
    const address = `${webUrl}/.well-known/agent-skills/index.json`;
    const { $schema, skills } = (await read(address)) as unknown as {
      $schema: string;
      skills: { name: string; type: string; description: string; url: string; digest: string }[];
    };
    expect($schema).toBe('https://schemas.agentskills.io/discovery/0.2.0/schema.json');
    expect(skills.map(({ name }) => name)).toEqual(['auth']);
    for (const { name, type, description, url, digest } of skills) {
      expect(type).toBe('skill-md');
      const text = await (await fetch(new URL(url, address))).text();
      expect(digest).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
      const [, frontmatter] = /^---\n(.*?)\n---\n/s.exec(text)!;
      expect(frontmatter!.split('\n')).toEqual([`name: ${name}`, `description: ${description}`]);
      expect(description.length).toBeLessThanOrEqual(1024);
      expect(description).not.toContain(': ');
    }
  });
});

test('llms.txt has a title, a summary, and lists of links', async () => {
  const text = await (await fetch(`${webUrl}/llms.txt`)).text();
  const [title, empty, summary] = text.split('\n');
  expect(title).toBe('# Latchkey');
  expect(empty).toBe('');
  expect(summary).toMatch(/^> /);
  for (const section of text.split(/^## /m).slice(1)) {
    const lines = section.split('\n').slice(1).filter(Boolean);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^- \[[^\]]+\]\(https?:\/\/[^)]+\): \S/);
  }
});

test('the schema of the event accepts events that are sent and received', async () => {
  const address = `${webUrl}/schemas/events/agent-revoked`;
  const schema = await read(address);
  expect(schema['$id']).toBe(address);
  const validate = new Ajv2020({ strict: true }).compile(schema);
  const sent = { agent_id: 'agt_1', initiating_entity: 'user', event_timestamp: 1_795_255_200 };
  expect(validate(sent)).toBe(true);
  expect(validate({})).toBe(true);
  expect(validate({ ...sent, initiating_entity: 'unknown' })).toBe(false);
});
