import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { listen } from '../../../src/platform/database/listener.ts';
import { DatabaseProxy } from '../../faults/database-proxy.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';

const databaseUrl = await createTestDatabase();
const { host, port, user } = inject('postgres');

/** Listens through a port that leads to the database. */
async function listening(through: number) {
  const database = new URL(databaseUrl).pathname.slice(1);
  const heard: string[] = [];
  const connection = { host: '127.0.0.1', port: through, user, database };
  const listener = listen(connection, ['some_channel'], (channel) => heard.push(channel));
  onTestFinished(() => listener.close());
  await expect.poll(() => heard.length).toBe(1);
  return { listener, heard };
}

test('what is notified is heard, and every channel once more when the connection was lost', async () => {
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

test('closing waits for no database that hangs', async () => {
  // As a stopped process does, it does not even end a connection that was ended.
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
