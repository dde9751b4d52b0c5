import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { isUploading } from '../transport/upload.ts';

const LINGER_MS = 1_500;
const FORCE_AFTER_MS = 6_000;
/** Transfers that are under way get nearly all of the 10 s in which the process must end. */
const CUT_AFTER_MS = 7_500;
const POLL_MS = 20;
const ARRIVING_MS = 1_000;
const QUIET_TURNS = 3;

/**
 * Prepares to stop a server so that no request fails. When it is stopped it takes no new connections, answers what is
 * under way and what still comes on open connections, and asks each client to close. Idle connections are closed after
 * a moment, everything else by force after 6 seconds, but uploads and downloads that are under way after 7.5.
 * @param server before it listens
 * @param lingerMs how long an idle connection may still bring a request; 1500 unless told
 * @returns stops it
 */
export function prepareDrain(server: Server, lingerMs = LINGER_MS): () => Promise<void> {
  // Node's own list leaves out what is no HTTP connection any more.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on('request', ({ socket }, response) => void answers.set(socket, response));
  const isBusy = (socket: Socket) => {
    const answer = answers.get(socket);
    return (
      answer !== undefined && !answer.writableFinished && (answer.headersSent || isUploading(answer.req))
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
  await untilNoneArrives(server);
  // http's own close() cuts idle connections at once, while a request may be on its way over one of them.
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
 * Closing the listening socket resets the connections that the kernel has accepted and we have not: waits until none
 * comes any more, for a second at most.
 */
async function untilNoneArrives(server: Server): Promise<void> {
  let arrived = false;
  const note = () => (arrived = true);
  server.on('connection', note);
  const deadline = Date.now() + ARRIVING_MS;
  for (let quiet = 0; quiet < QUIET_TURNS && Date.now() < deadline; quiet = arrived ? 0 : quiet + 1) {
    arrived = false;
    await nextTurn();
  }
  server.off('connection', note);
}
