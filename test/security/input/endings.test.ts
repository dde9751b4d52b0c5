import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { openRaw } from '../support/raw.ts';

const { api } = await startTestService();
const app = await newApp(api);

/** Node parses at least one packet, of at most 64 KiB, to its end. */
const PACKET = 65_536;
const NEXT = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';
const NO_HOST = 'GET /health HTTP/1.1\r\n\r\n';
const post = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
const CHUNKED = post('/api/v1/client/login');
const UNAUTHORIZED = post('/api/v2/dev/apps');

/** Sends each part by itself, so that they arrive in several packets. */
async function send(socket: Socket, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    if (!socket.write(part)) await once(socket, 'drain');
    await delay(2);
  }
}

/** Counts the requests that the server creates objects for. */
function countRequests(): () => number {
  let count = 0;
  const counted = () => void (count += 1);
  subscribe('http.server.request.start', counted);
  onTestFinished(() => void unsubscribe('http.server.request.start', counted));
  return () => count;
}

test.each([
  ['an invalid request', NO_HOST, [400]],
  ['a parse error', 'garbage\r\n\r\n', [400]],
  ['a body that is too large', `${CHUNKED}40000\r\n`, [413]],
])('after %s, no further packets are parsed', async (_name, first, expected) => {
  const client = await openRaw(api.baseUrl);
  const requests = countRequests();
  const ended = once(client.socket, 'end');
  client.socket.write(first);
  await ended;
  const block = NEXT.repeat(Math.floor(PACKET / NEXT.length));
  await send(
    client.socket,
    Array.from({ length: 20 }, () => block),
  );
  expect(client.statuses()).toEqual(expected);
  expect(requests()).toBeLessThanOrEqual(1);
});

test('requests in the packet of an invalid one are dropped', async () => {
  const client = await openRaw(api.baseUrl);
  const requests = countRequests();
  const ended = once(client.socket, 'end');
  const most = Math.ceil(PACKET / NEXT.length);
  client.socket.write(NO_HOST + NEXT.repeat(20 * most));
  await ended;
  await send(
    client.socket,
    Array.from({ length: 20 }, () => NEXT.repeat(most)),
  );
  expect(client.statuses()).toEqual([400]);
  expect(requests()).toBeLessThanOrEqual(1 + most);
});

test.each([
  [
    'a header that is too long',
    [`${NO_HOST.slice(0, -2)}X-Long: `, ...Array.from({ length: 100 }, () => 'x'.repeat(1_000))],
    431,
  ],
  ['an invalid chunk size', [CHUNKED, 'ZZ\r\n', ...Array.from({ length: 50 }, () => 'x'.repeat(1_000))], 400],
  ['a malformed request line', ['garbage\r\n', ...Array.from({ length: 50 }, () => 'x'.repeat(1_000))], 400],
])('a client that continues to send after %s can read its refusal', async (_name, parts, status) => {
  const client = await openRaw(api.baseUrl);
  // Reads later: a reset would discard what was received.
  client.socket.pause();
  await send(client.socket, parts);
  const ended = once(client.socket, 'end');
  client.socket.resume();
  await ended;
  expect(client.broken()).toBeUndefined();
  expect(client.statuses()).toEqual([status]);
});

test.each([
  ['a chunk over the limit', '40000\r\n'],
  ['an invalid chunk size', 'ZZ\r\n'],
])('%s after a refusal gets no second refusal', async (_name, size) => {
  const client = await openRaw(api.baseUrl);
  const { socket } = client;
  const first = once(socket, 'data');
  socket.write(UNAUTHORIZED);
  await first;
  expect(client.received()).not.toMatch(/^connection: close\r$/im);
  const ended = once(socket, 'end');
  await send(socket, [size, NEXT]);
  await ended;
  expect(client.statuses()).toEqual([401]);
});

test('packets after a parse error add no listeners to the response before it', async () => {
  const client = await openRaw(api.baseUrl);
  const warnings: Error[] = [];
  const warned = (warning: Error) => void warnings.push(warning);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const requests = countRequests();
  const path = `/api/v2/dev/apps/${app.app_id}/events/stream`;
  client.socket.write(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.token}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  await once(client.socket, 'data');
  await send(client.socket, ['garbage\r\n\r\n', ...Array.from({ length: 30 }, () => NEXT)]);
  expect(client.statuses()).toEqual([200]);
  expect(requests()).toBe(1);
  expect(warnings).toEqual([]);
});

test('a target in absolute form has the limit of its path', async () => {
  const client = await openRaw(api.baseUrl);
  const body = ' '.repeat(200_000);
  client.socket.write(
    `POST http://a/api/v2/dev/apps/${app.app_id}/users/import HTTP/1.1\r\nHost: a\r\n` +
      `Authorization: Bearer ${app.token}\r\nContent-Type: text/csv\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(client.socket, 'data');
  expect(client.received()).not.toMatch(/^connection: close\r$/im);
});
