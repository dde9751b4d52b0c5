import type { IncomingMessage } from 'node:http';
import type { Client } from '../../platform/address.ts';
import type { CheckoutPage } from '../../platform/payments/index.ts';
import type { Services } from '../../services.ts';
import type { Contract } from '../contract/contract.ts';
import { createMcpEndpoint } from '../mcp/endpoint.ts';
import type { ContractDocument } from '../mcp/tools.ts';
import { createMetricsPage } from '../pages/metrics.ts';
import { createPages } from '../pages/pages.ts';
import { closeAfter } from '../transport/closing.ts';
import type { ErrorResponses } from './error-response.ts';
import type { LoginLog } from './login-log.ts';
import { createMcpRequests } from './mcp-requests.ts';
import { createOperationRequests } from './operation-requests.ts';
import { createPageRequests } from './page-requests.ts';
import type { ArrivedRequest } from './request-context.ts';
import type { Responder } from './responder.ts';

export interface EndpointDependencies {
  readonly contract: Contract;
  /** The contract whose operations are MCP tools. */
  readonly document: ContractDocument;
  readonly services: Services;
  /** The payment page, if the service serves one itself. */
  readonly checkoutPage: CheckoutPage | undefined;
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
  readonly metricsToken: string | undefined;
  /** Whether the configuration names a proxy in front of the service. */
  readonly isPublic: boolean;
  /** The time limit of a request whose operation has no limit of its own; 5 s when undefined. */
  readonly deadlineMs: number | undefined;
}

interface Parts {
  readonly responder: Responder;
  readonly errors: ErrorResponses;
  readonly logins: LoginLog;
  readonly clientOf: (request: IncomingMessage) => Client;
}

/** @returns responds to a request by its route */
export function createEndpoints(
  deps: EndpointDependencies,
  { responder, errors, logins, clientOf }: Parts,
): (context: ArrivedRequest) => void {
  const { contract, services, webUrl } = deps;
  const toOperation = createOperationRequests({ ...deps, responder });
  const toMcp = createMcpRequests({ ...deps, endpoint: createMcpEndpoint(deps), errors, responder });
  const toPage = createPageRequests({
    ...deps,
    responder,
    createPages: (onError) =>
      createPages({
        document: deps.document,
        baseUrl: deps.baseUrl,
        webUrl,
        discovery: services.discovery,
        deprecations: contract.deprecated,
        checkouts: services.checkouts,
        checkoutPage: deps.checkoutPage,
        oauth: {
          ...services,
          clientOf,
          recordFailure: responder.recordFailure,
          logRefusedLogin: logins.refusedOnPage,
        },
        account: { passwords: services.developerPasswords, limits: services.limits, webUrl, clientOf },
        agentClaims: { page: services.agents.claimPage, webUrl, clientOf },
        metrics: createMetricsPage(services, { token: deps.metricsToken, isPublic: deps.isPublic }),
        onError,
      }),
  });

  return (context) => {
    const { route, response } = context;
    switch (route.to) {
      case 'operation':
        return toOperation(context, route.operation);
      case 'mcp':
        return toMcp(context);
      case 'page':
        return toPage(context);
      case 'error':
        if (route.isFinal) closeAfter(response);
        responder
          .send(context, responder.toResponse(route.error, context))
          .catch((error: unknown) => responder.abort(context, error));
    }
  };
}
