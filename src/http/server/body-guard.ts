import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../../foundation/errors/api-error.ts';
import { bodyLimitOf } from '../contract/body-limit.ts';
import { tooLarge } from '../transport/request-body.ts';
import { watchChunks } from './chunk-sizes.ts';
import type { ArrivedRequest } from './request-context.ts';
import type { Route } from './route.ts';

/**
 * Whether the `Content-Length` of a request exceeds the limit. If it does, the response closes the connection (RFC
 * 9110, section 15.5.14), and no `100 Continue` precedes it (section 10.1.1).
 */
export function isTooLong({ headers }: IncomingMessage, { operation }: Route): boolean {
  const { 'content-length': length } = headers;
  return length !== undefined && Number(length) > bodyLimitOf(operation);
}

/**
 * Watches a chunked request body, and refuses a chunk over the limit as soon as its size is announced.
 * @param refuse responds with an error and closes the connection
 */
export function guardChunks(
  context: ArrivedRequest,
  refuse: (error: ApiError, socket: Socket, context: ArrivedRequest) => void,
): void {
  const { request, route } = context;
  if (request.headers['transfer-encoding'] === undefined) return;
  // An operation without a body does not wait for one.
  if (route.operation && !('requestBody' in route.operation)) return;
  const limit = bodyLimitOf(route.operation);
  watchChunks(request, limit, () => {
    // So that the client can read the response.
    request.resume();
    refuse(tooLarge(limit), request.socket, context);
  });
}
