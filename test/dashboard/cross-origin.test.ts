import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startBrowser } from './support/browser.ts';
import { openSignedIn } from './support/signed-in.ts';

const service = await startTestService();
const browser = await startBrowser();

/** A page on another port of the service's host: another origin, but the same site, so that it gets the cookie. */
const foreign = createServer((_request, response) => {
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>Another program of this host</title>');
}).listen(0, '127.0.0.1');
await new Promise((resolve) => foreign.once('listening', resolve));
atFileEnd(() => foreign.close());
const foreignPort = (foreign.address() as AddressInfo).port;

const developer = await newDeveloper(service.api);
const app = await newApp(service.api, developer);
const { page: own } = await openSignedIn(browser, service, developer);
const target = `${service.baseUrl}/api/v2/dev/apps/${app.app_id}/rotate-secret`;

/**
 * Runs a script on a page of an origin, in a tab of its own, which stays open: when a form leaves its page is not
 * known, and a tab can neither be closed nor led elsewhere while it does.
 * @returns what the service responded to its POST: 401 if there was no cookie
 */
async function postedFrom(origin: string, script: string): Promise<number> {
  const page = await own.context().newPage();
  await page.goto(origin);
  const responded = page.waitForEvent('response', (response) => response.url() === target);
  await page.evaluate(script);
  return (await responded).status();
}

const FORM = `(() => {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '${target}';
  document.body.append(form);
  form.submit();
})()`;
const FETCH = `void fetch('${target}', { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(() => {})`;

const stillWorks = async () => {
  const { status } = await service.api.post('/api/v1/client/init', app.with({}));
  return status === 200;
};

test.each([
  ['a form', FORM],
  ['a script', FETCH],
])('%s on another port of the host has the cookie and no effect', async (_by, script) => {
  expect(await postedFrom(`http://127.0.0.1:${foreignPort}/`, script)).toBe(403);
  expect(await stillWorks()).toBe(true);
});

test.each([
  ['a form', FORM],
  ['a script', FETCH],
])('%s on another site does not have the cookie', async (_by, script) => {
  expect(await postedFrom(`http://localhost:${foreignPort}/`, script)).toBe(401);
  expect(await stillWorks()).toBe(true);
});

test('a script in a sandbox, whose origin is null, has no effect', async () => {
  const frame = `(() => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    // Again and again, because what a new frame sends at first may not be observed.
    frame.srcdoc = \`<script>setInterval(() => { ${FETCH} }, 250)</script>\`;
    document.body.append(frame);
  })()`;
  expect([401, 403]).toContain(await postedFrom(`http://127.0.0.1:${foreignPort}/`, frame));
  expect(await stillWorks()).toBe(true);
});

test('the dashboard itself rotates the secret', async () => {
  await own.goto(`${service.baseUrl}/dashboard/apps/${app.app_id}/settings`);
  await own.getByRole('button', { name: 'Rotate the secret' }).click();
  await own.getByLabel('The previous secret').selectOption('0');
  await own.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
  await own.getByText('The new secret').waitFor();
  expect(await stillWorks()).toBe(false);
});
