import type { ApiError } from '../../foundation/errors/api-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Exchange } from '../contract/exchange.ts';
import { redact, requestSchema, responseSchema } from '../contract/redaction.ts';
import type { LoginLog } from './login-log.ts';
import type { RequestContext } from './request-context.ts';
import type { PathRedaction } from './path-redaction.ts';

/** The logged part of a response. */
export interface Result {
  readonly status: number;
  readonly body?: unknown;
}

/** The log of requests. Every line has the request id of the response. */
export interface RequestLog {
  /** Logs an error of the service itself; a client's error is in the line about the response. */
  failure(error: ApiError, requestId: string): void;
  /**
   * Logs a response: errors at level `info`, all others at `debug`. At `debug` the line includes the bodies of request
   * and response, redacted as the contract says.
   */
  responded(context: RequestContext, result: Result): void;
}

/** @param redactPath the part of a request target that may be logged */
export function createRequestLog(logger: Logger, logins: LoginLog, redactPath: PathRedaction): RequestLog {
  return {
    failure(error, requestId) {
      const { code, cause = error } = error;
      if (code === 'INTERNAL_ERROR') logger.error({ request_id: requestId, err: cause }, code);
      // One line each: while the database is down there are many, and all say the same.
      else if (error.status >= 500)
        logger.warn({ request_id: requestId, reason: (cause as Error).message }, code);
    },

    responded(context, { status, body }) {
      const { requestId, request, client, exchange } = context;
      const isError = status >= 400;
      const code = isError ? codeOf(body) : undefined;
      logins.responded(context, status, code);
      if (!logger.isLevelEnabled(isError ? 'info' : 'debug')) return;
      const fields = {
        request_id: requestId,
        method: request?.method,
        path: request && redactPath(request.url!),
        operation: exchange?.operation.operationId,
        status,
        code,
        address: client.address,
        ...(exchange && logger.isLevelEnabled('debug') && redactedBody(exchange, status, body)),
      };
      if (isError) logger.info(fields, 'response sent');
      else logger.debug(fields, 'response sent');
    },
  };
}

/** The code of an error in either format. */
function codeOf(body: unknown): unknown {
  const { code, error } = (body ?? {}) as { readonly code?: unknown; readonly error?: unknown };
  return typeof code === 'string' ? code : error;
}

function redactedBody({ operation, body: sent }: Exchange, status: number, received: unknown): object {
  const request = redact(requestSchema(operation), sent);
  if (status >= 400) return { request };
  return { request, response: redact(responseSchema(operation, status), received) };
}
