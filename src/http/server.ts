import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { ApiError } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { CheckoutPage } from '../platform/payments/index.ts';
import type { Random } from '../platform/random.ts';
import type { Services } from '../services.ts';
import { guardBodies } from './body-guard.ts';
import { createClientOf, peerOf } from './client-address.ts';
import { closeAfter, drain, isBehindLast } from './closing.ts';
import { answerConnection, answerSocket, toConnectionFault } from './connection-fault.ts';
import type { Contract, Exchange } from './contract.ts';
import { deprecationHeaders } from './deprecation.ts';
import { createErrorResponses } from './error-response.ts';
import { createMcpEndpoint } from './mcp/endpoint.ts';
import type { ContractDocument } from './mcp/tools.ts';
import { createMetricsPage } from './metrics.ts';
import { createPages, MethodNotAllowed, PAGE_ROUTES } from './pages.ts';
import { isMqttUpgrade, MQTT_PATH, serveMqttUpgrades } from './mqtt-upgrade.ts';
import { isUploading } from './request-body.ts';
import { requestFault } from './request-fault.ts';
import { createRequestLog } from './request-log.ts';
import { openScope, respondInTime, type Outcome } from './request-deadline.ts';
import { PROBLEM_JSON, toApiError } from './problem.ts';
import { begin, discard, EVENT_STREAM, writeResponse, type HttpResponse } from './response.ts';
import { createSeenPath } from './seen-path.ts';
import { pathOf, searchOf } from './target.ts';

const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
/** Longer than proxies and clients keep a connection: whoever closes it first should not be the one who may be asked. */
const KEEP_ALIVE_MS = 75_000;
/** What is measured of requests that are for no operation of the contract. */
const NO_OPERATION = 'none';
/** And what of messages of MCP that call no tool. */
const MCP = 'mcp';

interface Dependencies {
  readonly contract: Contract;
  /** The contract whose operations are tools of MCP. */
  readonly document: ContractDocument;
  readonly services: Services;
  /** Where purchases are paid, where that is a page of ours. */
  readonly checkoutPage: CheckoutPage | undefined;
  readonly baseUrl: () => string;
  readonly webUrl: () => string;
  readonly trustedProxies: readonly string[];
  readonly metricsToken: string | undefined;
  /** Whether the configuration speaks of a proxy in front. */
  readonly isPublic: boolean;
  /** Within which a request is answered, unless its operation has a limit of its own; 5 s when undefined. */
  readonly deadlineMs: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * The HTTP server: operations of the contract go to their handlers, everything else to the pages. Every answer has a
 * request id, every error is a problem.
 */
export function createHttpServer(deps: Dependencies): Server {
  const { contract, services, clock, random, logger, baseUrl, webUrl } = deps;
  const { metrics, addresses } = services;

  const newRequestId = () => `req_${random.bytes(16).toString('base64url')}`;
  const clientOf = createClientOf(deps.trustedProxies);
  const routes = [
    ...Object.keys(deps.document.paths ?? {}),
    ...PAGE_ROUTES,
    ...services.discovery.paths,
    addresses.mcpPath,
    MQTT_PATH,
  ];
  const log = createRequestLog(logger, createSeenPath(routes));
  const deprecated = new Map(contract.deprecated.map((operation) => [operation.operationId, operation]));
  const latest = new WeakMap<Socket, ServerResponse>();

  const mcp = createMcpEndpoint(deps);

  const { problem, inForm } = createErrorResponses({ addresses, webUrl, clock });

  const answerError: ErrorRequestHandler = (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const requestId = String(response.getHeader('X-Request-Id'));
    // Express' own complaint about the percent-encoding of a path.
    const fault = error instanceof URIError ? new ApiError('MALFORMED_REQUEST', { cause: error }) : error;
    const apiError = toApiError(fault);
    log.failure(apiError, requestId);
    writeResponse(response, requestId, inForm(apiError, requestId, request)).catch(
      unwritten(response, requestId),
    );
  };
  const pages = createPages({
    discovery: services.discovery,
    deprecations: contract.deprecated,
    checkouts: services.checkouts,
    checkoutPage: deps.checkoutPage,
    oauth: {
      ...services,
      clientOf,
      noteFailure(error, requestId) {
        const apiError = toApiError(error);
        log.failure(apiError, requestId);
        return apiError;
      },
    },
    account: { passwords: services.developerPasswords, limits: services.limits, webUrl, clientOf },
    agentClaims: { page: services.agents.claimPage, webUrl, clientOf },
    metrics: createMetricsPage(services, { token: deps.metricsToken, isPublic: deps.isPublic }),
    onError: answerError,
  });

  /** The operation that a request is for; none where only an error can be the answer. */
  function toExchange(request: IncomingMessage, client: Client, path: string): Exchange | MethodNotAllowed {
    const operations = contract.operationsAt(path)!;
    const operation = operations.get(request.method === 'HEAD' ? 'GET' : request.method!);
    if (!operation) return new MethodNotAllowed([...operations.keys()]);
    const marks = deprecated.get(operation.operationId!);
    return {
      operation,
      request,
      path,
      search: searchOf(request),
      client,
      answerHeaders: marks ? deprecationHeaders(marks, baseUrl(), webUrl()) : {},
    };
  }

  async function run(exchange: Exchange): Promise<HttpResponse> {
    const response = await contract.dispatch(exchange);
    return response.stream ? { ...response, stream: await begin(response.stream) } : response;
  }

  /**
   * The response that says what has gone wrong.
   * @param request undefined where the connection gave no whole one
   */
  function failed(error: unknown, requestId: string, request?: IncomingMessage): HttpResponse {
    const apiError = toApiError(error);
    log.failure(apiError, requestId);
    return inForm(apiError, requestId, request);
  }

  function onMcpRequest(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const startedAt = metrics.now();
    const client = clientOf(request);
    const problemOf = (error: ApiError) => {
      log.failure(error, requestId);
      return problem(error, requestId, request, PROBLEM_JSON);
    };
    const scope = openScope(client, deps.deadlineMs);
    scope
      .run(() => mcp.answer(request, client, problemOf))
      .finally(() => scope.lift())
      .then(async ({ response: answered, outcome, exchange }) => {
        if (response.headersSent || response.destroyed) return;
        await writeResponse(response, requestId, answered);
        metrics.observeRequest(exchange?.operation.operationId ?? MCP, outcome.status, startedAt);
        log.answered(request, client, exchange, outcome, requestId);
      })
      .catch(unwritten(response, requestId));
  }

  const unwritten = (response: ServerResponse, requestId: string) => (error: unknown) => {
    // A client may go away in the middle of a stream.
    const level = isGone(error) ? 'debug' : 'error';
    logger[level]({ request_id: requestId, err: error }, 'an answer could not be written');
    // A response that waits for its turn has no connection yet, which would wait for it.
    response.req.socket.destroy();
  };

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (isBehindLast(response)) {
      request.resume();
      return drain(request.socket);
    }
    const startedAt = metrics.now();
    latest.set(request.socket, response);
    const requestId = newRequestId();
    const fault = requestFault(request);
    const path = pathOf(request);
    if (!fault && path === addresses.mcpPath) return onMcpRequest(request, response, requestId);
    if (!fault && !contract.operationsAt(path)) {
      response.setHeader('X-Request-Id', requestId);
      const client = clientOf(request);
      response.once('finish', () => {
        // A refusal of its body has taken the place of the page, and was logged and counted.
        if (response.getHeader('X-Request-Id') !== requestId) return;
        metrics.observeRequest(NO_OPERATION, response.statusCode, startedAt);
        log.answered(request, client, undefined, { status: response.statusCode }, requestId);
      });
      const scope = openScope(client, deps.deadlineMs);
      response.once('finish', () => scope.lift());
      scope.onDeadline((error) => {
        if (!response.headersSent && !response.destroyed)
          answerError(error, request as Request, response as Response, () => {});
      });
      scope.run(() =>
        // A page that comes too late finds its request answered, and the connection is the next one's.
        pages(
          request as Request,
          response as Response,
          () => response.writableEnded || request.socket.destroy(),
        ),
      );
      return;
    }
    const client = clientOf(request);
    const exchange = fault ?? toExchange(request, client, path);
    const isOperation = !(exchange instanceof ApiError);

    async function respond(outcome: Outcome): Promise<void> {
      const answered = 'error' in outcome ? failed(outcome.error, requestId, request) : outcome.response;
      // Answered already when the connection broke down in the middle of the body.
      if (response.headersSent || response.destroyed) {
        if (answered.stream) await discard(answered.stream);
        return;
      }
      if (fault) closeAfter(response);
      const note = () => {
        const operation = isOperation ? exchange.operation.operationId! : NO_OPERATION;
        metrics.observeRequest(operation, answered.status, startedAt);
        log.answered(request, client, isOperation ? exchange : undefined, answered, requestId);
      };
      // How long a client listens says nothing about us.
      const endless = answered.mediaType === EVENT_STREAM;
      if (endless) note();
      const headers = isOperation ? { ...exchange.answerHeaders, ...answered.headers } : answered.headers;
      await writeResponse(response, requestId, { ...answered, headers });
      if (!endless) note();
    }

    const settle = (outcome: Outcome) => void respond(outcome).catch(unwritten(response, requestId));
    if (!isOperation) return settle({ error: exchange });
    respondInTime(openScope(client, deps.deadlineMs), () => run(exchange), settle);
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1000,
      // Checked above: Node's own answer would be an empty one.
      requireHostHeader: false,
      shouldUpgradeCallback: isMqttUpgrade,
    },
    onRequest,
  );
  const operationOf = (request: IncomingMessage) =>
    contract.operationsAt(pathOf(request))?.get(request.method!);
  /** The error response to what never became a whole request; it is logged and counted here. */
  function refusal(
    error: ApiError,
    requestId: string,
    socket: Socket,
    request?: IncomingMessage,
  ): HttpResponse {
    const refused = failed(error, requestId, request);
    const operation = request && operationOf(request);
    metrics.observeRequest(operation?.operationId ?? NO_OPERATION, refused.status, metrics.now());
    const client = request ? clientOf(request) : peerOf(socket);
    log.answered(request, client, operation && { operation }, refused, requestId);
    return refused;
  }
  const giveUp = (error: ApiError, socket: Socket, response?: ServerResponse) => {
    const requestId = newRequestId();
    answerConnection(socket, response, requestId, (request) => refusal(error, requestId, socket, request));
  };
  const refuse = (error: ApiError, socket: Socket, request: IncomingMessage) => {
    const requestId = newRequestId();
    answerSocket(socket, requestId, refusal(error, requestId, socket, request));
  };
  guardBodies(server, operationOf, giveUp);
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (request: IncomingMessage, socket: Socket) =>
    refuse(new MethodNotAllowed(['GET', 'POST']), socket, request),
  );
  serveMqttUpgrades(server, services, {
    clientOf,
    refuse: (socket, request, error) => refuse(error, socket as Socket, request),
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const response = latest.get(socket);
    // Node's limit is for requests that come in one go; an upload is watched where it is read.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && response && isUploading(response.req)) return;
    giveUp(toConnectionFault(error), socket, response);
  });
  return server;
}

function isGone(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}
