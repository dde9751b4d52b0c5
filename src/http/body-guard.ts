import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Operation } from 'openapi-backend';
import type { ApiError } from '../errors/api-error.ts';
import { watchChunks } from './chunk-sizes.ts';
import { closeAfter } from './closing.ts';
import { bodyLimitOf, tooLarge } from './request-body.ts';
import { bringIntoOriginForm } from './request-fault.ts';

/**
 * Refuses bodies that announce more than is read, before they are sent: a chunk or a `Content-Length` over the limit closes the
 * connection with the response (RFC 9110, section 15.5.14), and such a length gets no `100 Continue` (RFC 9110, section 10.1.1).
 * @param operationOf finds the operation that a request is for; undefined where it is for none
 * @param refuse responds with an error and closes the connection
 */
export function guardBodies(
  server: Server,
  operationOf: (request: IncomingMessage) => Operation | undefined,
  refuse: (error: ApiError, socket: Socket, response: ServerResponse) => void,
): void {
  const isTooLong = (request: IncomingMessage) => {
    // Before anything looks for its operation.
    bringIntoOriginForm(request);
    const { 'content-length': length } = request.headers;
    return length !== undefined && Number(length) > bodyLimitOf(operationOf(request));
  };
  // Before the request is responded to, which some are at once.
  server.prependListener('request', (request, response) => {
    if (isTooLong(request)) closeAfter(response);
  });
  server.on('request', (request, response) => {
    if (request.headers['transfer-encoding'] === undefined) return;
    const operation = operationOf(request);
    // An operation without a body does not wait for one.
    if (operation && !('requestBody' in operation)) return;
    const limit = bodyLimitOf(operation);
    watchChunks(request, limit, () => {
      // The client must get to read the response.
      request.resume();
      refuse(tooLarge(limit), request.socket, response);
    });
  });
  server.on('checkContinue', (request, response) => {
    if (!isTooLong(request)) response.writeContinue();
    server.emit('request', request, response);
  });
}
