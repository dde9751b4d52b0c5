import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/platform/database/index.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { createTestDatabase } from '../../support/database.ts';

const ERROR_RESPONSE = 'E'.charCodeAt(0);
const BETWEEN_MS = 50;

/** The complete messages of the protocol at the beginning of some bytes, and the rest. */
function messagesOf(bytes: Buffer): { messages: Buffer[]; rest: Buffer } {
  const messages = [];
  let rest = bytes;
  while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
    const length = rest.readUInt32BE(1) + 1;
    messages.push(rest.subarray(0, length));
    rest = rest.subarray(length);
  }
  return { messages, rest };
}

/** Forwards what a server sends, but nothing within 50 ms after an error: as on a busy machine or a slow network. */
async function forward(server: Socket, client: Socket): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of server) {
    const read = messagesOf(Buffer.concat([rest, part as Buffer]));
    rest = read.rest;
    for (const message of read.messages) {
      client.write(message);
      if (message[0] === ERROR_RESPONSE) await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    }
  }
  client.end();
}

test('a connection whose transaction failed does not reach the next caller', async () => {
  const { host, port, user } = inject('postgres');
  const url = new URL((await createTestDatabase()).replace('postgresql:///', 'postgresql://host/'));
  const proxy = createServer((client) => {
    const server = connect(`${host}/.s.PGSQL.${port}`);
    client.on('error', () => server.destroy()).pipe(server);
    server.on('error', () => client.destroy());
    forward(server, client).catch(() => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());

  const database = await openDatabase({
    databaseUrl: `postgresql://${user}@127.0.0.1:${(proxy.address() as AddressInfo).port}${url.pathname}`,
    dataDir: 'unused',
    logger: createLogger('silent'),
    maxConnections: 1,
  });
  onTestFinished(() => database.close());
  // One message with several statements, as libraries send it: nothing rolls it back.
  await expect(database.knex.raw('begin; select 1 / 0; commit')).rejects.toThrow('division by zero');
  expect((await database.knex.raw('select 1 as one')).rows).toEqual([{ one: 1 }]);
});
