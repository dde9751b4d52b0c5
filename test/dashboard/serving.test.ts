import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync } from 'node:fs';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Api } from '../support/api.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { startTestService } from '../support/service.ts';
import { openPage, startBrowser } from './support/browser.ts';
import { signIn } from './support/signed-in.ts';

const service = await startTestService();
const { baseUrl } = service;
const ASSETS = readdirSync('generated/dashboard/assets');
const script = ASSETS.find((file) => file.endsWith('.js'))!;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

test.each(['/dashboard', '/dashboard/', '/dashboard/apps/app_x/licenses?q=a', '/dashboard/sign-in'])(
  '%s is the document',
  async (path) => {
    const response = await fetch(baseUrl + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toBe(POLICY);
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const html = await response.text();
    expect(html).toContain('src="/dashboard/assets/');
    expect(html).not.toContain('"./');
    expect(html).not.toMatch(/<base|<style|<script>/);
  },
);

test('assets are immutable, typed, and compressed', async () => {
  for (const file of ASSETS) {
    const { status, headers } = await fetch(`${baseUrl}/dashboard/assets/${file}`);
    expect(status, file).toBe(200);
    expect(headers.get('cache-control'), file).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type'), file).toMatch(
      /^(text\/(javascript|css); charset=utf-8|image\/svg\+xml)$/,
    );
  }
  const read = (encoding: string) =>
    new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
      const headers = { 'accept-encoding': encoding };
      httpRequest(`${baseUrl}/dashboard/assets/${script}`, { headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(parts) }),
        );
      })
        .on('error', reject)
        .end();
    });
  const plain = await read('identity');
  expect(plain.encoding).toBeUndefined();
  const brotli = await read('gzip, br');
  expect(brotli.encoding).toBe('br');
  expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
  const gzip = await read('gzip');
  expect(gzip.encoding).toBe('gzip');
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
});

test('HEAD, 304, 404 and 405', async () => {
  const head = await fetch(`${baseUrl}/dashboard`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const etag = head.headers.get('etag')!;
  expect((await fetch(`${baseUrl}/dashboard`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  for (const missing of ['missing.js', '..%2findex.html', '%2e%2e%2f%2e%2e%2fopenapi.json', 'a/b.js', '']) {
    const { status } = await fetch(`${baseUrl}/dashboard/assets/${missing}`);
    expect(status, missing).toBe(404);
  }
  for (const path of ['/dashboard', '/dashboard/apps', `/dashboard/assets/${script}`]) {
    const { status, headers } = await fetch(baseUrl + path, { method: 'POST' });
    expect([status, headers.get('allow')], path).toEqual([405, 'GET, HEAD']);
  }
  expect((await fetch(`${baseUrl}/dashboards`)).status).toBe(404);
});

test('works below a path that a proxy takes away', async () => {
  const port = await freePort();
  const proxy = createServer((request, response) => {
    if (!request.url!.startsWith('/licensing/')) return void response.writeHead(404).end();
    const upstream = httpRequest(
      {
        port,
        path: request.url!.slice('/licensing'.length),
        method: request.method,
        headers: request.headers,
      },
      (reply) => {
        response.writeHead(reply.statusCode!, reply.headers);
        reply.pipe(response);
      },
    );
    request.pipe(upstream);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const behind = await startTestService({
    PORT: String(port),
    BASE_URL: `${origin}/licensing`,
    WEB_URL: `${origin}/licensing`,
  });
  const developer = await newDeveloper(new Api(`http://127.0.0.1:${port}`));
  const browser = await startBrowser();
  const { page, faults } = await openPage(browser, { origin, now: behind.clock.now() });
  await page.goto(`${origin}/licensing/dashboard/nowhere/deep`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.goto(`${origin}/licensing/dashboard`);
  await signIn(page, developer);
  await page.getByRole('heading', { name: 'No applications yet' }).waitFor();
  await expect.poll(() => page.url()).toMatch(/\/licensing\/dashboard\/?$/);

  await page.goto(`${origin}/licensing/docs/listUsers`);
  await page.getByRole('link', { name: 'Try it' }).first().click();
  await page.getByRole('heading', { name: 'List the users of an application' }).waitFor();
  await expect.poll(() => page.url()).toContain('/licensing/docs#');
  // For a page without images, the browser looks for an icon at the root of the host.
  expect(faults.filter((fault) => !fault.endsWith(`${origin}/favicon.ico`))).toEqual([]);
});
