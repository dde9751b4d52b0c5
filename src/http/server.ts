import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { answerConnection, answerSocket, toConnectionFault } from './connection-fault.ts';
import type { Contract } from './contract.ts';
import { createPages, MethodNotAllowed } from './pages.ts';
import { requestFault } from './request-fault.ts';
import { problemResponse, toApiError } from './problem.ts';
import { writeResponse, type HttpResponse } from './response.ts';

const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
/** Longer than proxies and clients keep a connection: whoever closes it first should not be the one who may be asked. */
const KEEP_ALIVE_MS = 75_000;

interface Dependencies {
  readonly contract: Contract;
  /** The contract as it is served. */
  readonly contractDocument: () => object;
  readonly webUrl: () => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * The HTTP server: operations of the contract go to their handlers, everything else to the pages. Every answer has a
 * request id, every error is a problem.
 */
export function createHttpServer(deps: Dependencies): Server {
  const { contract, clock, random, logger, webUrl } = deps;

  const newRequestId = () => `req_${random.bytes(16).toString('base64url')}`;
  const latest = new WeakMap<Socket, ServerResponse>();

  function problem(error: unknown, requestId: string, request?: IncomingMessage): HttpResponse {
    const apiError = toApiError(error);
    logFailure(apiError, requestId);
    const response = problemResponse(apiError, {
      accept: request?.headers.accept,
      instance: request ? pathOf(request) : '',
      requestId,
      timestamp: clock.now(),
      webUrl: webUrl(),
    });
    if (!(apiError instanceof MethodNotAllowed)) return response;
    return { ...response, headers: { ...response.headers, Allow: apiError.allow } };
  }

  function logFailure(error: ApiError, requestId: string): void {
    const { code, cause = error } = error;
    if (code === 'INTERNAL_ERROR') logger.error({ request_id: requestId, err: cause }, code);
    // One line each: while a database is lost there are many of them, and all say the same.
    else if (error.status >= 500)
      logger.warn({ request_id: requestId, reason: (cause as Error).message }, code);
  }

  const answerError: ErrorRequestHandler = (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const requestId = String(response.getHeader('X-Request-Id'));
    // Express' own complaint about the percent-encoding of a path.
    const fault = error instanceof URIError ? new ApiError('MALFORMED_REQUEST', { cause: error }) : error;
    writeResponse(response, requestId, problem(fault, requestId, request));
  };
  const pages = createPages(deps.contractDocument, answerError);

  async function answerOperation(
    request: IncomingMessage,
    path: string,
    methods: string[],
  ): Promise<HttpResponse> {
    const method = request.method === 'HEAD' ? 'GET' : request.method!;
    if (!methods.includes(method)) throw new MethodNotAllowed(methods);
    const { status, body } = await contract.dispatch(request, path, searchOf(request));
    return { status, mediaType: 'application/json', body };
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    latest.set(request.socket, response);
    const requestId = newRequestId();
    const fault = requestFault(request);
    const path = pathOf(request);
    const methods = contract.methodsAt(path);
    if (!methods && !fault) {
      response.setHeader('X-Request-Id', requestId);
      pages(request as Request, response as Response, () => response.destroy());
      return;
    }
    const answering = fault ? Promise.reject(fault) : answerOperation(request, path, methods!);
    answering
      .catch((error: unknown) => problem(error, requestId, request))
      .then((answer) => {
        // Answered already when the connection broke down in the middle of the body.
        if (response.headersSent) return;
        if (fault) response.setHeader('Connection', 'close');
        writeResponse(response, requestId, answer);
        const { method } = request;
        logger.debug({ request_id: requestId, method, path, status: answer.status }, 'answered');
      })
      .catch((error: unknown) => {
        logger.error({ request_id: requestId, err: error }, 'an answer could not be written');
        response.destroy();
      });
  }

  const server = createServer(
    {
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1000,
      // Checked above: Node's own answer would be an empty one.
      requireHostHeader: false,
    },
    onRequest,
  );
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    const requestId = newRequestId();
    answerSocket(socket, requestId, problem(new MethodNotAllowed(['GET', 'POST']), requestId, request));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const requestId = newRequestId();
    answerConnection(socket, latest.get(socket), requestId, problem(toConnectionFault(error), requestId));
  });
  return server;
}

function pathOf(request: IncomingMessage): string {
  return request.url!.split('?', 1)[0]!;
}

function searchOf(request: IncomingMessage): string {
  const start = request.url!.indexOf('?');
  return start < 0 ? '' : request.url!.slice(start + 1);
}
