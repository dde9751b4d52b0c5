import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { COMMON_HEADERS, type HttpResponse } from '../transport/response.ts';

/** The error of a connection that Node's parser gives up on before a request is complete. */
export function toConnectionFault(error: NodeJS.ErrnoException): ApiError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('REQUEST_TIMEOUT');
  if (error.code === 'HPE_HEADER_OVERFLOW') return new ApiError('HEADERS_TOO_LARGE');
  return new ApiError('MALFORMED_REQUEST', { cause: error });
}

/** Writes the last response of a connection for which Node has no response object. */
export function writeToSocket(
  socket: Duplex,
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
}
