import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as delay } from 'node:timers/promises';
import { isUploading } from '../transport/upload.ts';

const LINGER_MS = 1_500;
const FORCE_AFTER_MS = 6_000;
/** Transfers in progress get nearly all of the 10 s in which the process must end. */
const CUT_AFTER_MS = 7_500;
const POLL_MS = 20;
const ARRIVING_MS = 1_000;
const QUIET_ITERATIONS = 3;

/**
 * Prepares to stop a server without failing requests. Once stopped, the server accepts no new connections, finishes the
 * requests in progress and those that still arrive on open connections, and sends `Connection: close`. It closes idle
 * connections after `lingerMs`, all others by force after 6 seconds, and uploads and downloads in progress after 7.5.
 * @param server before it listens
 * @param lingerMs how long an idle connection may still send a request; 1500 by default
 * @returns stops it
 */
export function prepareDrain(server: Server, lingerMs = LINGER_MS): () => Promise<void> {
  // Node's own list lacks upgraded connections.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const responses = new WeakMap<Socket, ServerResponse>();
  server.on('request', ({ socket }, response) => void responses.set(socket, response));
  const isBusy = (socket: Socket) => {
    const response = responses.get(socket);
    return (
      response !== undefined &&
      !response.writableFinished &&
      (response.headersSent || isUploading(response.req))
    );
  };
  return () => drain(server, sockets, isBusy, lingerMs);
}

async function drain(
  server: Server,
  sockets: ReadonlySet<Socket>,
  isBusy: (socket: Socket) => boolean,
  lingerMs: number,
): Promise<void> {
  let busy = 0;
  let lastRequest = Date.now();
  server.prependListener('request', (_request, response) => {
    busy += 1;
    lastRequest = Date.now();
    response.setHeader('Connection', 'close');
    response.once('close', () => (busy -= 1));
  });
  const started = Date.now();
  await untilNoConnectionArrives(server);
  // http's own close() cuts idle connections at once, although a request may be on its way over one of them.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  let done = false;
  void closed.then(() => (done = true));

  while (!done) {
    const now = Date.now();
    if (now - started > FORCE_AFTER_MS) {
      for (const socket of sockets) {
        if (now - started > CUT_AFTER_MS || !isBusy(socket)) socket.destroy();
      }
    } else if (busy === 0 && now - lastRequest > lingerMs) server.closeIdleConnections();
    await Promise.race([closed, delay(POLL_MS)]);
  }
}

/**
 * Closing the listening socket resets the connections that the kernel has accepted but not passed on: waits until no
 * more arrive, for a second at most.
 */
async function untilNoConnectionArrives(server: Server): Promise<void> {
  let arrived = false;
  const note = () => (arrived = true);
  server.on('connection', note);
  const deadline = Date.now() + ARRIVING_MS;
  for (let quiet = 0; quiet < QUIET_ITERATIONS && Date.now() < deadline; quiet = arrived ? 0 : quiet + 1) {
    arrived = false;
    await nextIteration();
  }
  server.off('connection', note);
}
