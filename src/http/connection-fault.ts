import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors/api-error.ts';
import { closeInStages, endWith, isDrained } from './closing.ts';
import { COMMON_HEADERS, writeResponse, type HttpResponse } from './response.ts';

/** The error to answer with when Node's parser gives a connection up before there is a whole request. */
export function toConnectionFault(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('REQUEST_TIMEOUT');
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ApiError('HEADERS_TOO_LARGE');
  return new ApiError('MALFORMED_REQUEST', { cause: error });
}

/**
 * Answers on a connection whose parser has given up, and closes it. Answers to whole requests that came before are not
 * cut short: they go out first. Without effect on a connection that was given up already.
 * @param latest the response of the connection's latest request
 * @param answerTo makes the response to a request; to none where the connection gives no whole one
 */
export function answerConnection(
  socket: Socket,
  latest: ServerResponse | undefined,
  requestId: string,
  answerTo: (request?: IncomingMessage) => HttpResponse,
): void {
  if (isDrained(socket)) return;
  if (!socket.writable) {
    socket.destroy();
  } else if (!latest || (latest.writableFinished && latest.req.complete)) {
    answerSocket(socket, requestId, answerTo());
  } else {
    const { req } = latest;
    // Node forgets the request with its response: what reads the body would wait for ever.
    if (!req.complete) socket.once('close', () => req.destroy(new Error('The body broke off.')));
    // There is one response to a request, even if the rest of its body is at fault.
    if (latest.writableFinished) return closeInStages(socket);
    endWith(latest);
    // The fault is in the body of this request: Node puts its response behind those of the requests before it.
    if (!req.complete && !latest.headersSent) {
      writeResponse(latest, requestId, answerTo(req)).catch(() => socket.destroy());
    }
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
