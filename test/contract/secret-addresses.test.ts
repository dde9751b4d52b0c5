import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { PAGE_ROUTES } from '../../src/http/pages/pages.ts';
import { createTestDatabase } from '../support/database.ts';
import { spawnService } from '../support/processes.ts';
import { MASTER_KEY } from '../support/service.ts';
import { operations } from './operations.ts';

const DATABASE_URL = await createTestDatabase();
const service = await spawnService({ DATABASE_URL, MASTER_KEY, LOG_LEVEL: 'trace' }, (cleanUp) =>
  afterAll(cleanUp),
);
const { baseUrl } = service.api;
const { host, hostname, port } = new URL(baseUrl);

/** Every route with a parameter in its path. */
const ROUTES = [...PAGE_ROUTES, ...new Set(operations.map(({ path }) => path))].filter((route) =>
  /[:{]/.test(route),
);

/** Misspellings of a URL that a person, a proxy or a program may send. */
const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `/${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.replaceAll('/', '/./'),
  (path) => `/x/..${path}`,
  (path) => `${path}/`,
  (path) => `${path};x=1`,
  (path) => `${path}?token=${SECRET}`,
  (path) => `${path}#${SECRET}`,
  (path) => path.replace(/\/([^/]*)$/, '%2F$1'),
  (path) => path.replace(/\/([^/]*)$/, '%2f$1'),
  (path) => path.replace(/\/([^/]*)$/, '\\$1'),
  (path) => path.replace(/^\/(.)/, (_, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`),
  (path) => path.replace(/^\/[a-z]+/, (word) => word.toUpperCase()),
  (path) => `${path}%`,
  (path) => `${path}%ff`,
  (path) => path.slice(1),
  (path) => `http://${host}${path}`,
  (path) => `http://user:${SECRET}@${host}${path}`,
  (path) => `http://[${path}`,
];
const METHODS = ['GET', 'POST', 'PUT', 'BREW'];
const SECRET = 'Kd82mf0aLq9xWc3vTz6yRb1nHs5jUe7gPo4iXkEwQ-_';

/** Sends each request on its own connection, and waits until the service closes them. */
async function send(requests: readonly string[]): Promise<void> {
  for (let start = 0; start < requests.length; start += 20) {
    const sent = requests.slice(start, start + 20).map(async (request) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {}).resume();
      socket.end(request);
      await once(socket, 'close');
    });
    await Promise.all(sent);
  }
}

test('no spelling of a URL with a secret writes the secret to the log', async () => {
  const paths = ROUTES.map((route) => route.replace(/:\w+|\{\w+\}/g, SECRET));
  const requests = paths.flatMap((path, at) =>
    SPELLINGS.map((spell, index) => {
      const method = METHODS[(at + index) % METHODS.length]!;
      const fields = [
        `Host: ${host}`,
        `Referer: ${baseUrl}${path}`,
        `Cookie: latchkey_interaction=${SECRET}`,
        'Connection: close',
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${SECRET.length}`,
      ];
      return `${method} ${spell(path)} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${SECRET}`;
    }),
  );
  await send(requests);
  await fetch(`${baseUrl}/end-of-the-test`);
  const lines = () => service.output().stderr.split('\n');
  await expect
    .poll(() => lines().filter((line) => line.includes('"response sent"')).length)
    .toBeGreaterThan(100);
  expect(
    lines()
      .filter((line) => line.includes(SECRET.slice(0, 12)))
      .slice(0, 5),
  ).toEqual([]);
});

test('a page with a secret in its URL does not reveal it to other sites', async () => {
  const routes = PAGE_ROUTES.filter((route) => route.includes(':') && route !== '/errors/:slug');
  const policies = await Promise.all(
    routes.map(async (route) => {
      const { headers } = await fetch(baseUrl + route.replace(/:\w+/, SECRET));
      const isPage = headers.get('content-type')?.startsWith('text/html');
      return isPage ? [route, headers.get('referrer-policy')] : [];
    }),
  );
  const pages = policies.filter((each) => each.length > 0);
  expect(pages.length).toBeGreaterThan(5);
  for (const [route, policy] of pages) expect(policy, route!).toBe('no-referrer');
});
