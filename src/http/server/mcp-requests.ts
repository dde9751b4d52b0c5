import type { ApiError } from '../../foundation/errors/api-error.ts';
import { createMcpEndpoint } from '../mcp/endpoint.ts';
import { PROBLEM_JSON } from '../transport/problem.ts';
import type { ErrorResponses } from './error-response.ts';
import type { ArrivedRequest } from './request-context.ts';
import { openScope } from './request-deadline.ts';
import type { Responder } from './responder.ts';

type Endpoint = ReturnType<typeof createMcpEndpoint>;

interface Dependencies {
  readonly endpoint: Endpoint;
  readonly errors: ErrorResponses;
  readonly responder: Responder;
  readonly deadlineMs: number | undefined;
}

/** @returns responds to a request to the MCP endpoint */
export function createMcpRequests({ endpoint, errors, responder, deadlineMs }: Dependencies) {
  return (context: ArrivedRequest): void => {
    const { request, client, requestId } = context;
    const problemOf = (error: ApiError) =>
      errors.problem(responder.recordFailure(error, requestId), requestId, request, PROBLEM_JSON);
    const scope = openScope(client, deadlineMs);
    context.scope = scope;
    scope
      .run(() => endpoint.respond(request, client, problemOf))
      .finally(() => scope.lift())
      .then(({ response, outcome, exchange }) => {
        context.exchange = exchange;
        return responder.send(context, response, outcome);
      })
      .catch((error: unknown) => responder.abort(context, error));
  };
}
