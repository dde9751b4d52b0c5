import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors/api-error.ts';
import { closeAfter, closeInStages } from './closing.ts';
import { COMMON_HEADERS, writeResponse, type HttpResponse } from './response.ts';

/** The error to answer with when Node's parser gives a connection up before there is a whole request. */
export function toConnectionFault(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('REQUEST_TIMEOUT');
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ApiError('HEADERS_TOO_LARGE');
  return new ApiError('MALFORMED_REQUEST', { cause: error });
}

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
    if (latest.headersSent) latest.once('finish', () => closeInStages(socket));
    else closeAfter(latest);
    // The fault is in the body of this request: Node puts its answer behind those of the requests before it.
    if (!latest.req.complete && !latest.headersSent) {
      // Node forgets the request with the answer: whoever reads its body would wait for ever.
      socket.once('close', () => latest.req.destroy(new Error('The body broke off.')));
      void writeResponse(latest, requestId, answerTo(latest.req));
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
  closeInStages(socket);
}
