import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors/api-error.ts';
import { COMMON_HEADERS, writeResponse, type HttpResponse } from './response.ts';

/** The error to answer with when Node's parser gives a connection up before there is a whole request. */
export function toConnectionFault(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('REQUEST_TIMEOUT');
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ApiError('HEADERS_TOO_LARGE');
  return new ApiError('MALFORMED_REQUEST', { cause: error });
}

/** A client that does not close its side after an answer of ours gets this long. */
const CLOSE_WITHIN_MS = 1_000;

/**
 * Answers on a connection whose parser has given up, and closes it. Answers to whole requests that came before are not
 * cut short: they go out first.
 * @param latest the response of the connection's latest request
 * @param answerTo makes the response to a request; to none where the connection gives no whole one
 */
export function answerConnection(
  socket: Socket,
  latest: ServerResponse | undefined,
  requestId: string,
  answerTo: (request?: IncomingMessage) => HttpResponse,
): void {
  if (!socket.writable) {
    socket.destroy();
  } else if (latest && !latest.writableFinished) {
    latest.once('finish', () => closeSoon(socket));
    // The fault is in the body of this request: Node puts its answer behind those of the requests before it.
    if (!latest.req.complete && !latest.headersSent) {
      // Node forgets the request with the answer: whoever reads its body would wait for ever.
      socket.once('close', () => latest.req.destroy(new Error('The body broke off.')));
      const answer = answerTo(latest.req);
      void writeResponse(latest, requestId, {
        ...answer,
        headers: { ...answer.headers, Connection: 'close' },
      });
    }
  } else {
    answerSocket(socket, requestId, answerTo());
  }
}

/** Answers where Node has no response to do it with, and closes the connection. */
export function answerSocket(
  socket: Socket,
  requestId: string,
  { status, mediaType, body, headers }: HttpResponse,
): void {
  const text = JSON.stringify(body);
  const fields = {
    ...COMMON_HEADERS,
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(text),
    'X-Request-Id': requestId,
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`);
  closeSoon(socket);
}

function closeSoon(socket: Socket): void {
  // Node has taken its own listeners off by now: without one, a reset would end the process.
  socket.on('error', () => socket.destroy());
  socket.end();
  setTimeout(() => socket.destroy(), CLOSE_WITHIN_MS).unref();
}
