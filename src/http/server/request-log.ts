import type { ApiError } from '../../foundation/errors/api-error.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Exchange } from '../contract/exchange.ts';
import { redact, requestSchema, responseSchema } from '../contract/redaction.ts';
import type { LoginLog } from './login-log.ts';
import type { RequestContext } from './request-context.ts';
import type { PathRedaction } from './path-redaction.ts';

/** What is logged of a response. */
export interface Result {
  readonly status: number;
  readonly body?: unknown;
}

/** What the service says about its requests. Every line has the request id of the response. */
export interface RequestLog {
  /** An error that is the service's own; one of the client is in the line about the response. */
  failure(error: ApiError, requestId: string): void;
  /**
   * A response to a request: errors at level `info`, all others at `debug`, there with the bodies of request and response, as far
   * as the contract lets them be seen.
   */
  responded(context: RequestContext, result: Result): void;
}

/** @param redactPath what may be logged of the target of a request */
export function createRequestLog(logger: Logger, logins: LoginLog, redactPath: PathRedaction): RequestLog {
  return {
    failure(error, requestId) {
      const { code, cause = error } = error;
      if (code === 'INTERNAL_ERROR') logger.error({ request_id: requestId, err: cause }, code);
      // One line each: while a database is lost there are many of them, and all say the same.
      else if (error.status >= 500)
        logger.warn({ request_id: requestId, reason: (cause as Error).message }, code);
    },

    responded(context, { status, body }) {
      const { requestId, request, client, exchange } = context;
      const level = status >= 400 ? 'info' : 'debug';
      if (!logger.isLevelEnabled(level)) return;
      const code = status >= 400 ? codeOf(body) : undefined;
      logger[level](
        {
          request_id: requestId,
          method: request?.method,
          path: request && redactPath(request.url!),
          operation: exchange?.operation.operationId,
          status,
          code,
          address: client.address,
          ...(exchange && logger.isLevelEnabled('debug') && redactedBody(exchange, status, body)),
        },
        'answered',
      );
      logins.responded(context, status, code);
    },
  };
}

/** The code of an error in either model. */
function codeOf(body: unknown): unknown {
  const { code, error } = (body ?? {}) as { readonly code?: unknown; readonly error?: unknown };
  return typeof code === 'string' ? code : error;
}

function redactedBody({ operation, body: sent }: Exchange, status: number, received: unknown): object {
  const request = redact(requestSchema(operation), sent);
  if (status >= 400) return { request };
  return { request, response: redact(responseSchema(operation, status), received) };
}
