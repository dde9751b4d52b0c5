import type { IncomingMessage } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { ApiError } from '../../foundation/errors/api-error.ts';
import type { Contract } from '../contract/contract.ts';
import { MethodNotAllowed } from '../transport/method-not-allowed.ts';
import { normalizeTarget, requestFault } from '../transport/request-fault.ts';
import { pathOf } from '../transport/target.ts';

/** What a request is for: an operation of the contract, the MCP endpoint, a page, or only an error. */
export type Route = { readonly path: string } & (
  | { readonly to: 'operation'; readonly operation: Operation }
  | { readonly to: 'mcp' | 'page'; readonly operation?: undefined }
  | {
      readonly to: 'error';
      readonly operation?: undefined;
      readonly error: ApiError;
      readonly isFinal: boolean;
    }
);

/**
 * Creates the routing. HEAD uses the operation of GET.
 * @returns resolves the route of a request, and normalizes its target to origin form
 */
export function createRouting(contract: Contract, mcpPath: string): (request: IncomingMessage) => Route {
  return (request) => {
    normalizeTarget(request);
    const path = pathOf(request);
    const fault = requestFault(request);
    // After a malformed head, the rest of the connection cannot be trusted.
    if (fault) return { to: 'error', path, error: fault, isFinal: true };
    if (path === mcpPath) return { to: 'mcp', path };
    const operations = contract.operationsAt(path);
    if (!operations) return { to: 'page', path };
    const operation = operations.get(request.method === 'HEAD' ? 'GET' : request.method!);
    if (operation) return { to: 'operation', path, operation };
    return { to: 'error', path, error: new MethodNotAllowed([...operations.keys()]), isFinal: false };
  };
}
