import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newApp, newHwid, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { openRaw } from '../support/raw.ts';

const { api } = await startTestService();

const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';
const GARBAGE = 'garbage\r\n\r\n';

describe.each([
  ['CONNECT', CONNECT, 405],
  ['garbage', GARBAGE, 400],
] as const)('%s', (_name, bytes, status) => {
  test('gets a response, and a reset after it does no harm', async () => {
    const { socket } = await openRaw(api.baseUrl);
    socket.write(bytes);
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    socket.resetAndDestroy();
    await once(socket, 'close');
    expect((await api.call('GET', '/health')).status).toBe(200);
  });

  test('a client that keeps its side open does not keep ours', async () => {
    const { socket } = await openRaw(api.baseUrl);
    socket.write(bytes);
    await once(socket, 'end');
    // The server resets a closed connection on the next write. Until then, the socket stays open.
    const gone = once(socket, 'error').catch(() => {});
    const writing = setInterval(() => socket.write('x'), 50);
    onTestFinished(() => clearInterval(writing));
    await gone;
    expect(socket.destroyed).toBe(true);
  });
});

test('a malformed body does not affect the response to the request before it', async () => {
  const app = await newApp(api);
  const user = app.with({ username: unique('first'), password: 'a user password', hwid: newHwid() });
  const body = JSON.stringify(user);
  const head = 'Host: a\r\nContent-Type: application/json\r\n';
  const { socket, statuses } = await openRaw(api.baseUrl);
  socket.write(
    `POST /api/v1/client/register HTTP/1.1\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}` +
      `POST /api/v1/client/login HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
  );
  await once(socket, 'end');
  expect(statuses()[0]).toBe(201);
  expect((await api.login(user)).status).toBe(200);
});

test.each(['a b', 'a/b', 'a?b', 'a@b', 'a\\b'])('the Host %j is refused', async (host) => {
  const { socket, received } = await openRaw(api.baseUrl);
  socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(socket, 'end');
  expect(received()).toMatch(/^HTTP\/1.1 400 [^]*"code":"MALFORMED_REQUEST"/);
});
