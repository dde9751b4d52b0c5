import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newApp, newHwid, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';

const { api } = await startTestService();
const { hostname, port } = new URL(api.baseUrl);

/** A client that does not close its side by itself. */
function open(): net.Socket {
  const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  return socket;
}

async function readToEnd(socket: net.Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'end');
  return text;
}

const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';
const GARBAGE = 'garbage\r\n\r\n';

describe.each([
  ['CONNECT', CONNECT, 405],
  ['garbage', GARBAGE, 400],
] as const)('%s', (_name, bytes, status) => {
  test('is answered, and a reset behind it does no harm', async () => {
    const socket = open();
    socket.write(bytes);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    socket.resetAndDestroy();
    await once(socket, 'close');
    expect((await api.call('GET', '/health')).status).toBe(200);
  });

  test('a client that keeps its side open does not keep ours', async () => {
    const socket = open();
    socket.write(bytes);
    await readToEnd(socket);
    // Writing to a connection that is gone is answered with a reset; until then it is still there.
    const gone = once(socket, 'error').catch(() => {});
    const writing = setInterval(() => socket.write('x'), 50);
    onTestFinished(() => clearInterval(writing));
    await gone;
    expect(socket.destroyed).toBe(true);
  });
});

test('a broken body does not take the answer of the request before it', async () => {
  const app = await newApp(api);
  const user = app.with({ username: unique('first'), password: 'a user password', hwid: newHwid() });
  const body = JSON.stringify(user);
  const head = 'Host: a\r\nContent-Type: application/json\r\n';
  const socket = open();
  socket.write(
    `POST /api/v1/client/register HTTP/1.1\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}` +
      `POST /api/v1/client/login HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
  );
  const statuses = [...(await readToEnd(socket)).matchAll(/^HTTP\/1\.1 (\d+) /gm)].map((match) => match[1]);
  expect(statuses[0]).toBe('201');
  expect((await api.login(user)).status).toBe(200);
});

test.each(['a b', 'a/b', 'a?b', 'a@b', 'a\\b'])('the Host %j is refused', async (host) => {
  const socket = open();
  socket.write(`GET /health HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 400 [^]*"code":"MALFORMED_REQUEST"/);
});
