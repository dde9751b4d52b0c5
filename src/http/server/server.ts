import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Random } from '../../platform/random.ts';
import { PAGE_ROUTES } from '../pages/pages.ts';
import { closeAfter, drain, followsLast } from '../transport/closing.ts';
import { MethodNotAllowed } from '../transport/method-not-allowed.ts';
import { isUploading } from '../transport/upload.ts';
import { guardChunks, isTooLong } from './body-guard.ts';
import { createClientOf, peerOf } from './client-address.ts';
import { toConnectionFault } from './connection-fault.ts';
import { createEndpoints, type EndpointDependencies } from './endpoints.ts';
import { createErrorResponses } from './error-response.ts';
import { createLoginLog } from './login-log.ts';
import { isMqttUpgrade, MQTT_PATH, serveMqttUpgrades } from './mqtt-upgrade.ts';
import { createRefusals } from './refusals.ts';
import type { ArrivedRequest } from './request-context.ts';
import { createRequestLog } from './request-log.ts';
import { createResponder } from './responder.ts';
import { createResponseSigner } from './response-signature.ts';
import { createRouting } from './route.ts';
import { createPathRedaction } from './path-redaction.ts';

const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
/**
 * Longer than proxies and clients keep a connection, so that no request arrives on a connection that is being closed.
 */
const KEEP_ALIVE_MS = 75_000;

interface Dependencies extends EndpointDependencies {
  readonly trustedProxies: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Creates the HTTP server: operations of the contract go to their handlers, everything else to the pages. Every
 * response has a request id. Every error is a problem (RFC 9457), or has the form of the protocol or page at its path.
 */
export function createHttpServer(deps: Dependencies): Server {
  const { contract, services, random } = deps;
  const { metrics, addresses } = services;
  const clientOf = createClientOf(deps.trustedProxies);
  const resolveRoute = createRouting(contract, addresses.mcpPath);
  const errors = createErrorResponses({ ...deps, addresses });
  const logins = createLoginLog(deps.logger, services.refusedLogins);
  const log = createRequestLog(deps.logger, logins, createPathRedaction(routesOf(deps)));
  const sign = createResponseSigner({ ...services, clock: deps.clock });
  const responder = createResponder({ ...deps, metrics, log, errors, sign });
  const respondTo = createEndpoints(deps, { responder, errors, logins, clientOf });
  const latest = new WeakMap<Socket, ArrivedRequest>();
  const awaitingContinue = new WeakSet<IncomingMessage>();

  const newRequestId = () => `req_${random.bytes(16).toString('base64url')}`;
  const refusals = createRefusals(responder, (socket, request) => ({
    requestId: newRequestId(),
    client: request ? clientOf(request) : peerOf(socket),
    startedAt: metrics.now(),
    request,
    route: undefined,
    exchange: undefined,
    scope: undefined,
    isRecorded: false,
  }));

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const route = resolveRoute(request);
    if (isTooLong(request, route)) closeAfter(response);
    else if (request.headers.expect !== undefined && awaitingContinue.has(request)) response.writeContinue();
    if (followsLast(response)) {
      request.resume();
      return drain(request.socket);
    }
    const context: ArrivedRequest = {
      requestId: newRequestId(),
      client: clientOf(request),
      startedAt: metrics.now(),
      request,
      response,
      route,
      exchange: undefined,
      scope: undefined,
      isRecorded: false,
    };
    latest.set(request.socket, context);
    respondTo(context);
    guardChunks(context, refusals.refuseRest);
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1000,
      // The routing checks it: Node's own response would be empty.
      requireHostHeader: false,
      shouldUpgradeCallback: isMqttUpgrade,
    },
    onRequest,
  );
  server.on('checkContinue', (request, response) => {
    awaitingContinue.add(request);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (request: IncomingMessage, socket: Socket) =>
    refusals.refuseSocket(new MethodNotAllowed(['GET', 'POST']), socket, request),
  );
  serveMqttUpgrades(server, services, {
    clientOf,
    refuse: (socket, request, error) => refusals.refuseSocket(error, socket as Socket, request),
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const context = latest.get(socket);
    // Node's limit is for bodies that are sent without a pause; an upload is timed where it is read.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && context && isUploading(context.request)) return;
    refusals.refuseRest(toConnectionFault(error), socket, context);
  });
  return server;
}

/** Every path of the service, with its parameters as `{name}` or `:name`. */
function routesOf({ document, services }: Dependencies): readonly string[] {
  const { discovery, addresses } = services;
  return [
    ...Object.keys(document.paths ?? {}),
    ...PAGE_ROUTES,
    ...discovery.paths,
    addresses.mcpPath,
    MQTT_PATH,
  ];
}
