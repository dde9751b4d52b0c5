import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newApp, newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { openRaw } from '../support/raw.ts';

const { api } = await startTestService();
const app = await newApp(api);

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const LENGTH = 2_000_000_000;
/** The documented maximum is 5 s. */
const LINGERS_MS = 5_000;
const MARGIN_MS = 3_000;

/** Method, path and media type of a request, and the status of its refusal. */
const routes: readonly (readonly [string, string, string, number])[] = [
  ['POST', '/api/v1/client/login', JSON_TYPE, 413],
  ['POST', `/api/v2/dev/apps/${app.app_id}/users/import`, 'text/csv', 413],
  ['POST', '/api/v1/agent/revoke', 'application/secevent+jwt', 413],
  ['POST', '/oauth/token', FORM, 413],
  ['POST', '/oauth/register', JSON_TYPE, 413],
  ['POST', '/oauth/device', FORM, 413],
  ['POST', '/mcp', JSON_TYPE, 413],
  ['POST', '/account/password', FORM, 413],
  // Refused for another reason than their size.
  ['POST', '/no-such-page', JSON_TYPE, 404],
  ['DELETE', '/health', JSON_TYPE, 405],
  ['POST', '/api/v1/client/login', 'text/plain', 415],
];

const head = (method: string, path: string, type: string, more: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.token}\r\n` +
  `Content-Type: ${type}\r\n${more}\r\n\r\n`;

describe('a length over the limit ends the connection', () => {
  test.each(routes)('%s %s of %s: %i', async (method, path, type, status) => {
    const { socket, received, statuses } = await openRaw(api.baseUrl);
    const began = performance.now();
    socket.write(head(method, path, type, `Content-Length: ${LENGTH}`));
    await once(socket, 'end');
    expect(performance.now() - began).toBeLessThan(MARGIN_MS);
    expect(statuses()).toEqual([status]);
    expect(received()).toMatch(/^connection: close\r$/im);
  });
});

test('a chunked body that grows over the limit ends the connection', async () => {
  for (const [method, path, type] of routes.slice(0, 8)) {
    const { socket, received, statuses } = await openRaw(api.baseUrl);
    socket.write(head(method, path, type, 'Transfer-Encoding: chunked'));
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const ended = once(socket, 'end').then(() => true);
    for (let sent = 0; sent < 600; sent += 1) {
      const taken = socket.write(chunk);
      if (!taken) await Promise.race([once(socket, 'drain'), ended]);
      if (received() !== '') break;
    }
    expect(await Promise.race([ended, delay(MARGIN_MS, false)]), path).toBe(true);
    expect(statuses(), path).toEqual([413]);
    expect(received(), path).toMatch(/^connection: close\r$/im);
  }
});

test('later requests on the connection are not executed', async () => {
  const developer = await newDeveloper(api);
  const name = unique('late');
  const body = JSON.stringify({ name });
  const create =
    `POST /api/v2/dev/apps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${developer.token}\r\n` +
    `Content-Type: ${JSON_TYPE}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const long = `${head('POST', '/api/v1/client/login', JSON_TYPE, 'Content-Length: 131073')}${' '.repeat(131_073)}`;
  const { socket, statuses } = await openRaw(api.baseUrl);
  socket.write(create + long + create.replace(name, `${name}2`));
  await once(socket, 'end');
  expect(statuses()).toEqual([201, 413]);
  const { body: list } = await api.call<{ data: { name: string }[] }>('GET', '/api/v2/dev/apps', undefined, {
    token: developer.token,
  });
  expect(list.data.map((each) => each.name)).toEqual([name]);
});

test('a client that sends the whole body first can read its refusal', async () => {
  const { socket, statuses } = await openRaw(api.baseUrl);
  const body = ' '.repeat(4_000_000);
  socket.write(head('POST', '/api/v1/client/login', JSON_TYPE, `Content-Length: ${body.length}`));
  // Reads later, like a client that writes everything before it reads.
  socket.pause();
  for (let at = 0; at < body.length; at += 65_536) {
    if (!socket.write(body.slice(at, at + 65_536))) await once(socket, 'drain');
  }
  socket.resume();
  await once(socket, 'end');
  expect(statuses()).toEqual([413]);
});

test('a client that continues to send is disconnected', async () => {
  const { socket, statuses } = await openRaw(api.baseUrl);
  const began = performance.now();
  socket.write(head('POST', '/api/v1/client/login', JSON_TYPE, `Content-Length: ${LENGTH}`));
  const sending = setInterval(() => socket.write(' '.repeat(1_000)), 20);
  onTestFinished(() => clearInterval(sending));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.on('close', () => resolve());
  await closed;
  expect(statuses()).toEqual([413]);
  expect(performance.now() - began).toBeLessThan(LINGERS_MS + MARGIN_MS);
});
