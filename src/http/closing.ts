import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may go on sending behind a response that ends the connection. */
const LINGER_MS = 5_000;

/** Connections that end, with the response that ends them. */
const closing = new WeakMap<Socket, ServerResponse>();

/** Whether an earlier response ends the connection: then the request must not be processed (RFC 9112, section 9.6). */
export function isBehindLast(response: ServerResponse): boolean {
  const last = closing.get(response.req.socket);
  return last !== undefined && last !== response;
}

/** Ends the connection with a response, whose header was not sent yet. */
export function closeAfter(response: ServerResponse): void {
  const { socket } = response.req;
  if (closing.has(socket)) return;
  closing.set(socket, response);
  response.setHeader('Connection', 'close');
  // Node calls this after the last response.
  socket.destroySoon = () => closeInStages(socket);
}

/**
 * Closes our side of a connection, and reads on for a while: a connection that is closed while the client sends is reset, which
 * takes the response away from it (RFC 9112, section 9.6).
 */
export function closeInStages(socket: Socket): void {
  // Node has taken its own listeners off by now: without one, a reset would end the process.
  socket.on('error', () => socket.destroy());
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
