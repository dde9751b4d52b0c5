import { describe, expect, test } from 'vitest';
import { startOnTwoHosts } from './support/two-hosts.ts';

const service = await startOnTwoHosts();
const { api, baseUrl, webUrl } = service;
const { api: trusting } = await startOnTwoHosts({
  AGENT_ISSUERS: 'https://issuer.example.com',
  DATABASE_URL: service.databaseUrl,
});

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

/** Where a crawl starts. The contract is left out, because it has example URLs. */
const STARTS = [
  '/',
  '/llms.txt',
  '/auth.md',
  '/.well-known/oauth-protected-resource',
  '/.well-known/openid-configuration',
  '/.well-known/mcp/manifest.json',
  '/.well-known/ai-catalog.json',
  '/.well-known/agent-skills/index.json',
];

/** Our own URLs in a text, except those with placeholders. */
function addressesIn(text: string, at: string): string[] {
  // Examples of requests have identifiers that no one has.
  const absolute = (/\/(docs|guides)\//.test(at) ? '' : text).match(/https?:\/\/[^\s"'`<>)\]|\\]+/g) ?? [];
  const linked = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => new URL(link!, at).href);
  return [...absolute, ...linked]
    .map((address) => address.replace(/[.,;:]+$/, ''))
    .filter((address) => [baseUrl, webUrl].some((own) => address === own || address.startsWith(`${own}/`)))
    .filter((address) => !/[{…]/.test(address));
}

// Every operation has a page.
test('every link to our own URLs works', { timeout: 120_000 }, async () => {
  const waiting = STARTS.map((path) => webUrl + path);
  const seen = new Set(waiting);
  const lost: string[] = [];
  for (let address = waiting.shift(); address !== undefined; address = waiting.shift()) {
    const response = await fetch(address, { redirect: 'manual' });
    const text = await response.text();
    // A path that accepts only POST exists, as the response to a GET shows.
    if (response.status === 404 || response.status >= 500) lost.push(`${response.status} ${address}`);
    // Scripts put addresses together from parts.
    const isScript = response.headers.get('content-type')?.includes('javascript') ?? false;
    if (address.endsWith('/openapi.json') || isScript || !response.ok) continue;
    for (const next of addressesIn(text, address)) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  expect(lost).toEqual([]);
  expect(seen.size).toBeGreaterThan(40);
  for (const path of ['/openapi.json', '/mcp', '/api/v1/agent/register', '/schemas/events/agent-revoked']) {
    expect(
      [...seen].filter((address) => address.endsWith(path)),
      path,
    ).not.toEqual([]);
  }
});

describe('advertised features exist', async () => {
  const metadata = (await (
    await fetch(`${baseUrl}/.well-known/oauth-authorization-server`)
  ).json()) as Record<string, string> & Record<`${string}_supported`, string[]>;
  const agentAuth = metadata['agent_auth'] as unknown as {
    identity_assertion: { assertion_types_supported: string[]; credential_types_supported: string[] };
    anonymous: { credential_types_supported: string[] };
  };
  const register = (body: object) => api.post('/api/v1/agent/register', body);

  test('the token endpoint supports exactly these grant types', async () => {
    const errorOf = async (grantType: string) => {
      const body = new URLSearchParams({ grant_type: grantType, client_id: 'unknown' });
      const response = await fetch(metadata['token_endpoint']!, { method: 'POST', body });
      return ((await response.json()) as { error: string }).error;
    };
    const granted = metadata['grant_types_supported']!;
    expect(granted.length).toBeGreaterThan(2);
    for (const grantType of granted) expect(await errorOf(grantType), grantType).toBe('invalid_client');
  });

  test('clients can register for every scope', async () => {
    const { token } = (
      await api.post<{ token: string }>('/api/v2/dev/register', {
        email: 'ada@example.com',
        password: 'correct horse battery staple',
      })
    ).body;
    const client = {
      name: 'Everything',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: metadata['grant_types_supported'],
      scopes: metadata['scopes_supported'],
      token_endpoint_auth_method: 'client_secret_basic',
    };
    const response = await api.post('/api/v2/dev/oauth-clients', client, { token });
    expect(response.body).toMatchObject({ scopes: metadata['scopes_supported'] });
  });

  test.each(agentAuth.anonymous.credential_types_supported)('an anonymous agent gets a %s', async (type) => {
    const { status, body } = await register({ type: 'anonymous', requested_credential_type: type });
    expect(status).toBe(200);
    expect(body).toMatchObject({ credential_type: type, credential: expect.any(String) });
  });

  test.each(agentAuth.identity_assertion.credential_types_supported)(
    'an agent of a developer can request a %s',
    async (type) => {
      const { status, body } = await register({
        type: 'identity_assertion',
        assertion_type: 'verified_email',
        assertion: `${type.replace('_', '.')}@example.com`,
        requested_credential_type: type,
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ claim_token: expect.any(String) });
    },
  );

  test('other values are refused', async () => {
    for (const [type, others] of [
      ['anonymous', agentAuth.identity_assertion.credential_types_supported],
      ['identity_assertion', agentAuth.anonymous.credential_types_supported],
    ] as const) {
      for (const other of others) {
        const { body } = await register({
          type,
          ...(type === 'identity_assertion' && {
            assertion_type: 'verified_email',
            assertion: 'linus@example.com',
          }),
          requested_credential_type: other,
        });
        expect(body, other).toMatchObject({ code: 'UNSUPPORTED_CREDENTIAL_TYPE' });
      }
    }
    const assertion = await register({
      type: 'identity_assertion',
      assertion_type: ID_JAG,
      assertion: 'eyJhbGciOiJub25lIn0.e30.',
    });
    expect(agentAuth.identity_assertion.assertion_types_supported).toEqual(['verified_email']);
    expect(assertion.status).toBe(401);
  });

  test('the keys are published for any origin', async () => {
    const response = await fetch(metadata['jwks_uri']!, { headers: { origin: 'https://elsewhere.example' } });
    expect(response.status).toBe(200);
    expect(['*', 'https://elsewhere.example']).toContain(response.headers.get('access-control-allow-origin'));
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(((await response.json()) as { keys: unknown[] }).keys.length).toBeGreaterThan(0);
  });
});

test('with trusted issuers, assertions are advertised and supported at both endpoints', async () => {
  const metadata = (await (
    await fetch(`${trusting.baseUrl}/.well-known/oauth-authorization-server`)
  ).json()) as { token_endpoint: string; grant_types_supported: string[]; agent_auth: object };
  expect(metadata.agent_auth).toMatchObject({
    identity_assertion: { assertion_types_supported: [ID_JAG, 'verified_email'] },
    events_supported: [expect.stringMatching(/\/schemas\/events\/agent-revoked$/)],
  });
  const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  expect(metadata.grant_types_supported).toContain(grantType);
  const body = new URLSearchParams({ grant_type: grantType, client_id: 'unknown', assertion: 'e30.e30.' });
  const refused = await fetch(metadata.token_endpoint, { method: 'POST', body });
  expect(await refused.json()).toMatchObject({ error: 'invalid_client' });
  const registered = await trusting.post('/api/v1/agent/register', {
    type: 'identity_assertion',
    assertion_type: ID_JAG,
    assertion: 'e30.e30.',
  });
  expect(registered.body).toMatchObject({ status: 401, code: 'INVALID_ASSERTION' });
});
