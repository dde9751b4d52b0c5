import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may go on sending behind a response that ends the connection. */
const LINGER_MS = 5_000;

/** Connections that end, with the response that ends them; with none where Node has none for it. */
const ending = new WeakMap<Socket, ServerResponse | undefined>();
/** Those whose packets are dropped. */
const drained = new WeakSet<Socket>();
/** Those where our side is closed. */
const closed = new WeakSet<Socket>();

/** Whether nothing more of what the client sends is parsed. */
export function isDrained(socket: Socket): boolean {
  return drained.has(socket);
}

/** Whether an earlier response ends the connection: then the request must not be processed (RFC 9112, section 9.6). */
export function isBehindLast(response: ServerResponse): boolean {
  const { socket } = response.req;
  return ending.has(socket) && ending.get(socket) !== response;
}

/** Ends the connection with a response, whose header was not sent yet. */
export function closeAfter(response: ServerResponse): void {
  const { socket } = response.req;
  if (ending.has(socket)) return;
  ending.set(socket, response);
  response.setHeader('Connection', 'close');
  // Node calls this after the last response.
  socket.destroySoon = () => closeInStages(socket);
}

/** Ends the connection with a response, whose header may have been sent: nothing of what the client sends now is parsed. */
export function endWith(response: ServerResponse): void {
  const { socket } = response.req;
  if (response.headersSent && !ending.has(socket)) {
    ending.set(socket, response);
    response.once('finish', () => closeInStages(socket));
  } else {
    closeAfter(response);
  }
  drain(socket);
}

/** Reads what the client sends without parsing it: every request that Node parses is kept until the connection is closed. */
export function drain(socket: Socket): void {
  if (drained.has(socket) || socket.destroyed) return;
  drained.add(socket);
  // The first listener from outside makes Node hand its parser's packets to the listeners, of which one is the parser's.
  socket.on('data', () => {});
  socket.removeAllListeners('data');
  // A body without a reader may have stopped the reading. This takes it up again, which `resume` alone would not.
  socket.push('');
  socket.resume();
}

/**
 * Closes our side of a connection, and reads on for a while: a connection that is closed while the client sends is reset, which
 * takes the response away from it (RFC 9112, section 9.6).
 */
export function closeInStages(socket: Socket): void {
  if (!ending.has(socket)) ending.set(socket, undefined);
  if (closed.has(socket) || socket.destroyed) return;
  closed.add(socket);
  // Node has taken its own listeners off by now: without one, a reset would end the process.
  socket.on('error', () => socket.destroy());
  drain(socket);
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
