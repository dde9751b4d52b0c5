import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Services } from '../../services.ts';
import { ACCOUNT_PATHS } from '../pages/account-pages.ts';
import { AGENT_CLAIM_PATHS } from '../pages/agent-claim-pages.ts';
import { bearerToken } from '../transport/bearer.ts';
import { FIRST_SCOPES } from '../mcp/endpoint.ts';
import { CORS_HEADERS } from '../mcp/origin.ts';
import { problemAsRpc } from '../mcp/rpc-error.ts';
import { oauthErrorResponse } from '../pages/oauth-error.ts';
import { OAUTH_PATHS } from '../pages/oauth-paths.ts';
import { refusalPageResponse } from '../pages/payment-parts.ts';
import { PAYMENT_PATHS } from '../pages/payment-pages.ts';
import { MethodNotAllowed } from '../transport/method-not-allowed.ts';
import { problemResponse } from '../transport/problem.ts';
import type { HttpResponse } from '../transport/response.ts';
import { pathOf } from '../transport/target.ts';

const OAUTH_ROUTES = Object.keys(OAUTH_PATHS);
const FORM_ROUTES = [ACCOUNT_PATHS, AGENT_CLAIM_PATHS, PAYMENT_PATHS].flatMap((paths) => Object.keys(paths));

interface Dependencies {
  readonly addresses: Pick<Services['addresses'], 'mcpPath' | 'resourceMetadata'>;
  readonly webUrl: () => string;
  readonly clock: Clock;
}

/** Creates error responses. */
export interface ErrorResponses {
  /**
   * A problem (RFC 9457).
   * @param request undefined when the error belongs to no request
   * @param accept what the client accepts; by default the header of the request
   */
  problem(error: ApiError, requestId: string, request?: IncomingMessage, accept?: string): HttpResponse;
  /**
   * An error in the form of the request's path: a problem, an OAuth error (RFC 6749, section 5.2), a JSON-RPC 2.0
   * error, or a page. `NOT_FOUND` is always a problem, because no protocol uses such a path.
   * @param request undefined when the error belongs to no request
   */
  forRequest(error: ApiError, requestId: string, request?: IncomingMessage): HttpResponse;
}

export function createErrorResponses({ addresses, webUrl, clock }: Dependencies): ErrorResponses {
  function problem(
    error: ApiError,
    requestId: string,
    request?: IncomingMessage,
    accept = request?.headers.accept,
  ): HttpResponse {
    const path = request ? pathOf(request) : '';
    const response = problemResponse(error, {
      accept,
      instance: path,
      requestId,
      timestamp: clock.now(),
      webUrl: webUrl(),
      resourceMetadata: () => addresses.resourceMetadata(request?.headers.host, path),
      hasToken: bearerToken(request?.headers.authorization) !== undefined,
      scope: path === addresses.mcpPath ? FIRST_SCOPES : undefined,
    });
    return withAllow(error, response);
  }

  function forRequest(error: ApiError, requestId: string, request?: IncomingMessage): HttpResponse {
    const path = request ? pathOf(request) : '';
    if (error.code === 'NOT_FOUND') return problem(error, requestId, request);
    if (path === addresses.mcpPath) {
      const response = problemAsRpc(problem(error, requestId, request, '*/*'), null);
      return { ...response, headers: { ...response.headers, ...CORS_HEADERS } };
    }
    if (isAt(path, OAUTH_ROUTES)) return withAllow(error, oauthErrorResponse(error, path));
    if (isAt(path, FORM_ROUTES)) return withAllow(error, refusalPageResponse(error));
    return problem(error, requestId, request);
  }

  return { problem, forRequest };
}

function withAllow(error: ApiError, response: HttpResponse): HttpResponse {
  if (!(error instanceof MethodNotAllowed)) return response;
  return { ...response, headers: { ...response.headers, Allow: error.allow } };
}

/** Whether a path matches one of some routes, whose parameters are written as `:name`. */
function isAt(path: string, routes: readonly string[]): boolean {
  const segments = path.split('/');
  return routes.some((route) => {
    const parts = route.split('/');
    return (
      parts.length === segments.length &&
      parts.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at]))
    );
  });
}
