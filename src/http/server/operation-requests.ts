import type { Operation } from 'openapi-backend';
import type { Contract } from '../contract/contract.ts';
import { deprecationHeaders } from '../contract/deprecation.ts';
import type { Exchange } from '../contract/exchange.ts';
import { begin, type HttpResponse } from '../transport/response.ts';
import { searchOf } from '../transport/target.ts';
import type { ArrivedRequest } from './request-context.ts';
import { openScope, respondInTime, type Outcome } from './request-deadline.ts';
import type { Responder } from './responder.ts';

interface Dependencies {
  readonly contract: Contract;
  readonly responder: Responder;
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
  readonly deadlineMs: number | undefined;
}

/** @returns responds to a request for an operation of the contract */
export function createOperationRequests({ contract, responder, baseUrl, webUrl, deadlineMs }: Dependencies) {
  const deprecated = new Map(contract.deprecated.map((operation) => [operation.operationId, operation]));

  function toExchange({ request, client, route: { path } }: ArrivedRequest, operation: Operation): Exchange {
    const marks = deprecated.get(operation.operationId!);
    const responseHeaders = marks ? deprecationHeaders(marks, baseUrl(), webUrl()) : {};
    return { operation, request, path, search: searchOf(request), client, responseHeaders };
  }

  async function run(exchange: Exchange): Promise<HttpResponse> {
    const response = await contract.dispatch(exchange);
    return response.stream ? { ...response, stream: await begin(response.stream) } : response;
  }

  async function respond(context: ArrivedRequest, exchange: Exchange, outcome: Outcome): Promise<void> {
    const response = 'error' in outcome ? responder.toResponse(outcome.error, context) : outcome.response;
    const headers = { ...exchange.responseHeaders, ...response.headers };
    await responder.send(context, { ...response, headers });
  }

  return (context: ArrivedRequest, operation: Operation): void => {
    const exchange = toExchange(context, operation);
    const scope = openScope(context.client, deadlineMs);
    context.exchange = exchange;
    context.scope = scope;
    respondInTime(
      scope,
      () => run(exchange),
      (outcome) =>
        void respond(context, exchange, outcome).catch((error: unknown) => responder.abort(context, error)),
    );
  };
}
