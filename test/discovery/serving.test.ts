import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';

const { baseUrl } = await startTestService();

const JSON_DOCUMENTS = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/.well-known/mcp/manifest.json',
  '/.well-known/agent-skills/index.json',
  '/openapi.json',
];
const TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(JSON_DOCUMENTS.map((path) => [path, 'application/json'])),
  '/.well-known/mcp/server-card.json': 'application/mcp-server-card+json',
  '/mcp/server-card': 'application/mcp-server-card+json',
  '/.well-known/ai-catalog.json': 'application/ai-catalog+json',
  '/schemas/events/agent-revoked': 'application/schema+json',
  '/.well-known/agent-skills/auth/SKILL.md': 'text/markdown; charset=utf-8',
  '/auth.md': 'text/markdown; charset=utf-8',
  '/llms.txt': 'text/plain; charset=utf-8',
};

describe.each(Object.entries(TYPES))('%s', (path, type) => {
  const request = (init: RequestInit = {}) => fetch(baseUrl + path, init);

  test('can be read by every origin and cached for five minutes', async () => {
    const response = await request({ headers: { origin: 'https://elsewhere.example' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('set-cookie')).toBeNull();
    const text = await response.text();
    if (type.includes('json')) expect(JSON.parse(text)).toBeTypeOf('object');
    else expect(text).not.toMatch(/\{(base|web)_url\}|<!-- \/?issuers/);
    expect(response.headers.get('etag')).toBe(`"${createHash('sha256').update(text).digest('base64url')}"`);
  });

  test('is not sent again to a client that has cached it', async () => {
    const etag = (await request()).headers.get('etag')!;
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await request({ headers: { 'if-none-match': sent } });
      expect(response.status, sent).toBe(304);
      expect(await response.text()).toBe('');
      expect(response.headers.get('etag')).toBe(etag);
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect((await request({ headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test('supports HEAD', async () => {
    const [get, head] = [await request(), await request({ method: 'HEAD' })];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['content-type', 'etag', 'cache-control', 'access-control-allow-origin']) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name));
    }
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(await get.text())));
  });

  test('allows the headers of browsers', async () => {
    const headers = {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'mcp-protocol-version',
    };
    const response = await request({ method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('GET');
    expect(response.headers.get('access-control-allow-headers')).toBe('*');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('refuses other methods', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await request({ method });
      expect(response.status, method).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect(await response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
    }
  });

  test('is at this path only', async () => {
    for (const other of [`${path}/`, path.toUpperCase()]) {
      expect((await fetch(baseUrl + other)).status, other).toBe(404);
    }
  });
});

test('the home page links to the documents, for people and programs', async () => {
  const response = await fetch(baseUrl);
  const html = await response.text();
  const links = [...response.headers.get('link')!.matchAll(/<([^>]+)>/g)].map(([, link]) => link!);
  for (const path of ['/llms.txt', '/auth.md', '/openapi.json']) {
    expect(html).toContain(`href="${path}"`);
    expect(links).toContain(path);
  }
  for (const link of links) expect((await fetch(baseUrl + link)).status, link).toBe(200);
});
