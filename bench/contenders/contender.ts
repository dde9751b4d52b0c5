import type { AddressInfo } from 'node:net';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { serveOrders, type Child } from '../child.ts';

/** `usage` is the processor time that the process has used so far, in microseconds. */
export interface ContenderState {
  readonly port: number;
  readonly usage: number;
}

/** A server under test, in a process of its own. */
export type Contender = Child<'state', ContenderState>;

/** Makes this process a contender. @param start makes it listen on the loopback, and returns its port */
export function runContender(start: () => Promise<number>): void {
  const started = start();
  serveOrders(async (): Promise<ContenderState> => {
    const port = await started;
    const { user, system } = process.cpuUsage();
    return { port, usage: user + system };
  });
}

/**
 * Listens on a free port with nothing but node:http.
 * @param onSocket receives WebSocket connections; without it there are not any
 */
export async function listen(
  listener: RequestListener,
  onSocket?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer(listener).once('error', reject).listen(0, '127.0.0.1', resolve);
  if (onSocket) server.on('upgrade', onSocket);
  await promise;
  return (server.address() as AddressInfo).port;
}
