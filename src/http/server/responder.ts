import type { ApiError } from '../../foundation/errors/api-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Services } from '../../services.ts';
import { NoLongerAllowedError } from '../contract/rechecked-stream.ts';
import { toApiError } from '../transport/problem.ts';
import { discard, EVENT_STREAM, writeResponse, type HttpResponse } from '../transport/response.ts';
import type { ErrorResponses } from './error-response.ts';
import type { createResponseSigner } from './response-signature.ts';
import type { ArrivedRequest, RequestContext } from './request-context.ts';
import type { RequestLog, Result } from './request-log.ts';

/** The operation in the metrics of requests without one. */
const NO_OPERATION = 'none';
/** The operation in the metrics of MCP messages that call no tool. */
const MCP = 'mcp';

/** Writes responses, and counts and logs every response once. */
export interface Responder {
  /** Logs an error of the service itself. @returns the error as the catalog has it */
  recordFailure(error: unknown, requestId: string): ApiError;
  /** Makes the response to an error, and logs an error of the service itself. */
  toResponse(error: unknown, context: RequestContext): HttpResponse;
  /**
   * Writes a response, then counts and logs it. Has no effect on a request that already has a response.
   * @param result what to count instead, where the HTTP response does not show it
   * @throws Error as `writeResponse` does
   */
  send(context: ArrivedRequest, response: HttpResponse, result?: Result): Promise<void>;
  /** Counts and logs the response to a request, once. */
  record(context: RequestContext, result: Result): void;
  /** Ends the connection of a response that could not be written. */
  abort(context: ArrivedRequest, error: unknown): void;
}

interface Dependencies {
  readonly metrics: Pick<Services['metrics'], 'observeRequest'>;
  readonly log: RequestLog;
  readonly errors: ErrorResponses;
  readonly logger: Logger;
  readonly sign: ReturnType<typeof createResponseSigner>;
}

/** Creates the only writer of responses, which counts and logs them. */
export function createResponder({ metrics, log, errors, logger, sign }: Dependencies): Responder {
  function recordFailure(error: unknown, requestId: string): ApiError {
    const apiError = toApiError(error);
    log.failure(apiError, requestId);
    return apiError;
  }

  function record(context: RequestContext, result: Result): void {
    if (context.isRecorded) return;
    context.isRecorded = true;
    const { exchange, route, startedAt } = context;
    const operation = exchange?.operation.operationId ?? (route?.to === 'mcp' ? MCP : NO_OPERATION);
    metrics.observeRequest(operation, result.status, startedAt);
    log.responded(context, result);
    // The context lives as long as the connection: the sent body must not.
    context.exchange = undefined;
    context.scope = undefined;
  }

  return {
    recordFailure,
    record,

    toResponse(error, context) {
      return errors.forRequest(recordFailure(error, context.requestId), context.requestId, context.request);
    },

    async send(context, response, result = response) {
      const { response: target, requestId, request } = context;
      const isSigned = request.headers['latchkey-nonce'] !== undefined;
      const content = isSigned ? await sign(request, response) : response;
      if (target.headersSent || target.destroyed) {
        if (response.stream) await discard(response.stream);
        return;
      }
      // How long a client listens is no measure of the service.
      if (response.mediaType === EVENT_STREAM) record(context, result);
      await writeResponse(target, requestId, content);
      record(context, result);
    },

    abort({ request, requestId }, error) {
      const fields = { request_id: requestId, err: error };
      // A client may disconnect in the middle of a stream.
      if (isGone(error)) logger.debug(fields, 'the client disconnected before the end of the response');
      else if (error instanceof NoLongerAllowedError)
        logger.info(fields, 'a response was cut short because its credential was revoked');
      else logger.error(fields, 'the response could not be written');
      // The request's socket: a response queued after others has none yet.
      request.socket.destroy();
    },
  };
}

function isGone(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE';
}
