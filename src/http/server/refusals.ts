import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../../foundation/errors/api-error.ts';
import { closeInStages, endWith, isDrained } from '../transport/closing.ts';
import { writeToSocket } from './connection-fault.ts';
import type { ArrivedRequest, RequestContext } from './request-context.ts';
import type { Responder } from './responder.ts';

/** Refuses what Node passes on without a response or gives up halfway, and closes the connection. */
export interface Refusals {
  /** @param request undefined when there is no complete head */
  refuseSocket(error: ApiError, socket: Socket, request?: IncomingMessage): void;
  /**
   * Refuses the rest of what a connection has sent: the rest of its latest request's body, or what follows it.
   * Responses to earlier complete requests are sent first. Has no effect on a connection that was already given up.
   * @param latest the latest request of the connection
   */
  refuseRest(error: ApiError, socket: Socket, latest: ArrivedRequest | undefined): void;
}

/** @param newContext makes the context of a request that does not have one */
export function createRefusals(
  responder: Responder,
  newContext: (socket: Socket, request: IncomingMessage | undefined) => RequestContext,
): Refusals {
  function refuseSocket(error: ApiError, socket: Socket, request?: IncomingMessage): void {
    const context = newContext(socket, request);
    const response = responder.toResponse(error, context);
    responder.record(context, response);
    writeToSocket(socket, context.requestId, response);
    closeInStages(socket);
  }

  /** Responds to a request with a bad body: Node sends the response after those of earlier requests. */
  function refuseBody(error: ApiError, context: ArrivedRequest): void {
    const response = responder.toResponse(error, context);
    // Before anything else can end the response.
    responder.record(context, response);
    responder.send(context, response).catch(() => context.request.socket.destroy());
  }

  return {
    refuseSocket,

    refuseRest(error, socket, latest) {
      if (isDrained(socket)) return;
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      if (!latest || (latest.response.writableFinished && latest.request.complete)) {
        refuseSocket(error, socket);
        return;
      }
      const { request, response } = latest;
      // Node forgets the request with its response: without an error, a reader of the body would wait forever.
      if (!request.complete)
        socket.once('close', () => request.destroy(new Error('The body was incomplete.')));
      // A request gets one response, even if the rest of its body is bad.
      if (response.writableFinished) return closeInStages(socket);
      endWith(response);
      if (!request.complete && !response.headersSent) refuseBody(error, latest);
    },
  };
}
