import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client may keep sending after a response that ends the connection. */
const LINGER_MS = 5_000;

/** Connections that end, with the response that ends them; undefined where Node has no response object. */
const ending = new WeakMap<Socket, ServerResponse | undefined>();
/** Connections whose packets are discarded. */
const drained = new WeakSet<Socket>();
/** Connections whose sending side is closed. */
const closed = new WeakSet<Socket>();

/** Whether further packets of the client are discarded without parsing. */
export function isDrained(socket: Socket): boolean {
  return drained.has(socket);
}

/**
 * Whether an earlier response ends the connection. If so, the request must not be processed (RFC 9112, section 9.6).
 */
export function followsLast(response: ServerResponse): boolean {
  const { socket } = response.req;
  return ending.has(socket) && ending.get(socket) !== response;
}

/** Ends the connection with a response whose header has not been sent. */
export function closeAfter(response: ServerResponse): void {
  const { socket } = response.req;
  if (ending.has(socket)) return;
  ending.set(socket, response);
  response.setHeader('Connection', 'close');
  // Node calls this after the last response.
  socket.destroySoon = () => closeInStages(socket);
}

/**
 * Ends the connection with a response, whose header may have been sent. Nothing that the client sends now is parsed.
 */
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

/** Reads what the client sends without parsing it: Node keeps every parsed request until the connection is closed. */
export function drain(socket: Socket): void {
  if (drained.has(socket) || socket.destroyed) return;
  drained.add(socket);
  // The first external listener makes Node pass its parser's packets to the listeners, one of which is the parser's.
  socket.on('data', () => {});
  socket.removeAllListeners('data');
  // A body without a reader may have paused the connection. This resumes it, which `resume` alone would not do.
  socket.push('');
  socket.resume();
}

/**
 * Closes the sending side of a connection, and reads for a while longer: closing a connection while the client still
 * sends resets it, and the client loses the response (RFC 9112, section 9.6).
 */
export function closeInStages(socket: Socket): void {
  if (!ending.has(socket)) ending.set(socket, undefined);
  if (closed.has(socket) || socket.destroyed) return;
  closed.add(socket);
  // Node has already removed its own listeners: without one, a reset would end the process.
  socket.on('error', () => socket.destroy());
  drain(socket);
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
