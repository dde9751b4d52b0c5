import type { ErrorRequestHandler, Express, Request, Response } from 'express';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { ArrivedRequest } from './request-context.ts';
import { openScope } from './request-deadline.ts';
import type { Responder } from './responder.ts';

interface Dependencies {
  /** @param onError responds to requests that fail or match no page */
  readonly createPages: (onError: ErrorRequestHandler) => Express;
  readonly responder: Responder;
  readonly deadlineMs: number | undefined;
}

/** @returns responds to a request for a page, or for a path that does not exist */
export function createPageRequests({ createPages, responder, deadlineMs }: Dependencies) {
  const contexts = new WeakMap<object, ArrivedRequest>();

  function fail(context: ArrivedRequest, error: unknown): void {
    const response = responder.toResponse(error, context);
    // Recorded before it is written, because a page reports nothing but its end.
    responder.record(context, response);
    responder.send(context, response).catch((cause: unknown) => responder.abort(context, cause));
  }

  const pages = createPages((error, _request, response, next) => {
    if (response.headersSent) return next(error);
    // Express' own error for a badly percent-encoded path.
    const fault = error instanceof URIError ? new ApiError('MALFORMED_REQUEST', { cause: error }) : error;
    fail(contexts.get(response)!, fault);
  });

  return (context: ArrivedRequest): void => {
    const { request, response, client, requestId } = context;
    contexts.set(response, context);
    response.setHeader('X-Request-Id', requestId);
    const scope = openScope(client, deadlineMs);
    context.scope = scope;
    response.once('finish', () => {
      scope.lift();
      responder.record(context, { status: response.statusCode });
    });
    scope.onDeadline((error) => {
      if (!response.headersSent && !response.destroyed) fail(context, error);
    });
    // A page that finishes late finds a response sent, and the connection belongs to the next request.
    const done = () => response.writableEnded || request.socket.destroy();
    scope.run(() => pages(request as Request, response as Response, done));
  };
}
