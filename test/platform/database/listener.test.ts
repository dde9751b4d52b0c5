import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createListen } from '../../../src/platform/database/listener.ts';
import { DatabaseProxy } from '../../faults/database-proxy.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';

const databaseUrl = await createTestDatabase();
const { host, port, user } = inject('postgres');

const database = new URL(databaseUrl).pathname.slice(1);

/** Listens at an address of the database. */
async function listening(at: { readonly host: string; readonly port: number }) {
  const heard: string[] = [];
  const connection = { ...at, user, database };
  const listen = createListen(connection);
  const listener = listen(['some_channel'], (channel) => heard.push(channel));
  onTestFinished(() => listener.close());
  await expect.poll(() => heard.length).toBe(1);
  return { listen, listener, heard };
}

test('notifications arrive, and one for every channel after the connection was lost', async () => {
  const proxy = await DatabaseProxy.open(join(host, `.s.PGSQL.${port}`));
  onTestFinished(() => proxy.close());
  const { heard } = await listening({ host: '127.0.0.1', port: proxy.port });
  const client = await connectTo(databaseUrl);
  await client.query('notify some_channel');
  await expect.poll(() => heard.length).toBe(2);
  proxy.cut();
  await expect.poll(() => heard.length).toBe(3);
  await client.query('notify some_channel');
  await expect.poll(() => heard.length).toBe(4);
});

test('all listeners share one connection, from the first to the last', async () => {
  const { listen, listener, heard } = await listening({ host, port });
  const client = await connectTo(databaseUrl);
  const connections = async () => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where application_name = 'latchkey listener' and datname = current_database()`,
    );
    return rows.map(({ pid }) => pid);
  };
  const [first] = await connections();
  const others: string[] = [];
  const other = listen(['some_channel', 'other_channel'], (channel, payload) =>
    others.push(`${channel} ${payload}`),
  );
  await expect.poll(() => others).toEqual(['some_channel undefined', 'other_channel undefined']);
  await client.query(`notify some_channel, 'a'; notify other_channel, 'b'`);
  await expect.poll(() => others.slice(2)).toEqual(['some_channel a', 'other_channel b']);
  expect(heard).toEqual(['some_channel', 'some_channel']);
  await other.close();
  await other.close();
  await client.query(`notify other_channel; notify some_channel`);
  await expect.poll(() => heard.length).toBe(3);
  expect(others).toHaveLength(4);
  expect(await connections()).toEqual([first]);
  await listener.close();
  await expect.poll(connections).toEqual([]);
  const again: string[] = [];
  const last = listen(['other_channel'], (channel) => again.push(channel));
  onTestFinished(() => last.close());
  await expect.poll(() => again).toEqual(['other_channel']);
  expect(heard).toHaveLength(3);
});

test('a listener of a connection that is not open yet waits for it', async () => {
  const listen = createListen({ host, port, user, database });
  const heard: string[] = [];
  for (const channel of ['some_channel', 'other_channel']) {
    const { close } = listen([channel], (named) => heard.push(named));
    onTestFinished(close);
  }
  await expect.poll(() => heard.toSorted()).toEqual(['other_channel', 'some_channel']);
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
  const { listener } = await listening({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  await listener.close();
});
