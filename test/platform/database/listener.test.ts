import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { listen } from '../../../src/platform/database/listener.ts';
import { DatabaseProxy } from '../../faults/database-proxy.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';

const databaseUrl = await createTestDatabase();
const { host, port, user } = inject('postgres');

/** Listens through a proxy of the database. */
async function listening(through: number) {
  const database = new URL(databaseUrl).pathname.slice(1);
  const heard: string[] = [];
  const connection = { host: '127.0.0.1', port: through, user, database };
  const listener = listen(connection, ['some_channel'], (channel) => heard.push(channel));
  onTestFinished(() => listener.close());
  await expect.poll(() => heard.length).toBe(1);
  return { listener, heard };
}

test('notifications arrive, and one for every channel after the connection was lost', async () => {
  const proxy = await DatabaseProxy.open(join(host, `.s.PGSQL.${port}`));
  onTestFinished(() => proxy.close());
  const { heard } = await listening(proxy.port);
  const client = await connectTo(databaseUrl);
  await client.query('notify some_channel');
  await expect.poll(() => heard.length).toBe(2);
  proxy.cut();
  await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(3);
  await client.query('notify some_channel');
  await expect.poll(() => heard.length).toBe(4);
});

test('closing does not wait for a database that hangs', async () => {
  // Like a stopped process, it does not even end its side of a closed connection.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const upstream = connect(join(host, `.s.PGSQL.${port}`));
    socket.on('data', (bytes) => upstream.write(bytes)).on('error', () => {});
    upstream.on('data', (bytes) => socket.write(bytes)).on('error', () => {});
    onTestFinished(() => void upstream.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { listener } = await listening((server.address() as AddressInfo).port);
  await listener.close();
});
