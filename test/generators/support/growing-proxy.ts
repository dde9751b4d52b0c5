import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { atFileEnd } from '../../support/at-file-end.ts';

/** The member that every object of a response gets. */
const ADDED = { added_later: { reason: 'A new member breaks no client.', values: [1, 'two', null] } };

/** Adds a member to every object, at every depth. */
function grow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grow);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, grow(member)] as const);
  return { ...Object.fromEntries(members), ...ADDED };
}

/**
 * Starts a proxy of a service that adds members to its JSON responses. It stops after the last test of the file.
 * @returns its base URL
 */
export async function startGrowingProxy(target: string): Promise<string> {
  const server = createServer((from, to) => void forward(target, from, to));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function forward(target: string, from: IncomingMessage, to: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/', headers } = from;
  const sent = request(new URL(url, target), { method, headers }).end(await buffer(from));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await buffer(response);
  const isJson = /[/+]json\b/.test(response.headers['content-type'] ?? '');
  const content = isJson ? Buffer.from(JSON.stringify(grow(JSON.parse(body.toString())))) : body;
  const { 'transfer-encoding': _, ...kept } = response.headers;
  to.writeHead(response.statusCode!, { ...kept, 'content-length': content.length }).end(content);
}
