import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { startOnTwoHosts } from './support/two-hosts.ts';

const { baseUrl, webUrl } = await startOnTwoHosts();

const guides = [
  ...readdirSync('docs/guides').map((file) => `/guides/${file.replace('.md', '')}`),
  '/guides/clients',
];

async function read(path: string, at = webUrl): Promise<{ readonly status: number; readonly html: string }> {
  const response = await fetch(at + path);
  return { status: response.status, html: await response.text() };
}

const linksIn = (html: string) => [...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
const idsIn = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);

test('the list has every guide of the repository', async () => {
  const { status, html } = await read('/guides');
  expect(status).toBe(200);
  expect(
    linksIn(html)
      .filter((link) => link.startsWith('/guides/'))
      .toSorted(),
  ).toEqual(guides.toSorted());
});

test.each(['/', '/docs', '/docs/operations'])('%s links to the guides', async (path) => {
  expect(linksIn((await read(path)).html)).toContain('/guides');
});

describe.each(guides)('%s', async (path) => {
  const { status, html } = await read(path);

  test('is a page without a script, whose policy allows only its style', async () => {
    expect(status).toBe(200);
    expect(html).not.toMatch(/<script|\son\w+=|javascript:|\]\(|undefined|\[object Object\]/i);
    const { headers } = await fetch(webUrl + path);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
  });

  test('lists its sections, and every link leads somewhere', async () => {
    const ids = idsIn(html);
    expect(new Set(ids).size).toBe(ids.length);
    const links = linksIn(html).filter((link) => !/^https?:/.test(link));
    expect(links.filter((link) => link.startsWith('#')).length).toBeGreaterThan(3);
    for (const link of links) {
      const [address, anchor] = link.split('#');
      const target = address ? await read(address) : { status, html };
      expect(target.status, link).toBe(200);
      if (anchor) expect(idsIn(target.html), link).toContain(anchor);
    }
  });

  test('has the addresses of this installation', () => {
    expect(html).not.toMatch(/127\.0\.0\.1:3000|\{base_url\}/);
    expect(html).toContain(baseUrl);
  });
});

test('commands are those of the file', async () => {
  const { html } = await read('/guides/developers');
  expect(html).toContain(`URL=${baseUrl}`);
  expect(html).toContain('-d &#39;{&quot;name&quot;'.replaceAll('&#39;', "'"));
});

test.each([
  ...['README', 'operating', 'threat-model', 'glossary', 'errors', 'python', 'test-vectors.json', ''],
  ...['money.md', 'guides', 'MONEY', 'constructor', '__proto__', '%00', '%ff', 'money/'],
  ...['..%2foperating', '..%2Foperating.md', '%2e%2e%2foperating.md', '..%5coperating.md'],
  ...['../decisions/0062-api-reference', '%2e%2e/README.md', 'clients%2FREADME', 'clients/README.md'],
])('no other file of the documentation is at /guides/%s', async (name) => {
  // `fetch` resolves dots before it sends them.
  const { status, html } = await read(`/guides/${name}`);
  expect([400, 404]).toContain(status);
  expect(html).not.toContain('# ');
});

test('links begin with the path of WEB_URL', async () => {
  const service = await startTestService({ WEB_URL: 'https://www.example.com/latchkey' });
  const { html } = await read('/guides/client-programs', service.baseUrl);
  const links = linksIn(html).filter((link) => link.startsWith('/'));
  expect(links.length).toBeGreaterThan(3);
  expect(links.filter((link) => !link.startsWith('/latchkey/'))).toEqual([]);
  expect(html).toContain('https://www.example.com/latchkey/errors/');
});
