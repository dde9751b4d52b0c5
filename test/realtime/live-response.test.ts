import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { writeLive } from '../../src/http/transport/live-response.ts';

/** A stream that the test writes to. */
const newStream = () => new Readable({ encoding: 'utf8', read() {} });

/** Requests a stream. @returns both ends, and the promise of the writing */
async function open(stream: Readable) {
  const requested = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => requested.resolve(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const response = await requested.promise;
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
  await once(client, 'data');
  const written = writeLive(stream, response);
  written.catch(() => {});
  return { client, response, written };
}

test('everything in one iteration of the event loop is one chunk, with the end of the stream', async () => {
  const stream = newStream();
  const { client, response, written } = await open(stream);
  const writes: number[] = [];
  const socket = response.socket!;
  for (const method of ['_write', '_writev'] as const) {
    const original = socket[method]!.bind(socket) as (...parts: unknown[]) => void;
    socket[method] = (...parts: unknown[]) => {
      writes.push(1);
      original(...parts);
    };
  }
  const [first] = await Promise.all([once(client, 'data'), stream.push('one\n'), stream.push('two\n')]);
  expect(String(first[0])).toBe('8\r\none\ntwo\n\r\n');
  expect(writes).toHaveLength(1);
  const [second] = await Promise.all([once(client, 'data'), stream.push('three\n'), stream.push(null)]);
  expect(String(second[0])).toBe('6\r\nthree\n\r\n0\r\n\r\n');
  expect(writes).toHaveLength(2);
  await written;
});

test('for a client that reads nothing, data wait in the stream', async () => {
  const stream = newStream();
  const { client, response, written } = await open(stream);
  client.pause();
  const line = `${'x'.repeat(1_023)}\n`;
  for (let n = 0; n < 20_000; n += 1) {
    stream.push(line);
    if (n % 100 === 0) await nextTurn();
  }
  stream.push(null);
  expect(response.writableLength).toBeLessThan(256 * 1024);
  expect(stream.readableLength).toBeGreaterThan(1024 * 1024);
  let length = 0;
  client.on('data', (part: Buffer) => (length += part.length));
  client.resume();
  await written;
  await expect.poll(() => length).toBeGreaterThan(20_000 * 1_024);
});

test('a client that disconnects ends the stream', async () => {
  const stream = newStream();
  const { client, written } = await open(stream);
  client.destroy();
  await expect(written).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  await expect.poll(() => stream.destroyed).toBe(true);
});

test('a stream that fails or is destroyed does not complete the response', async () => {
  const [failing, cut] = [newStream(), newStream()];
  const [one, two] = [await open(failing), await open(cut)];
  failing.destroy(new Error('the database is unavailable'));
  await expect(one.written).rejects.toThrow('the database is unavailable');
  cut.destroy();
  await expect(two.written).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
});
