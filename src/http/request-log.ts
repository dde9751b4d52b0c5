import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/api-error.ts';
import type { Logger } from '../platform/logger.ts';
import type { Exchange } from './contract.ts';
import { redact, requestSchema, responseSchema } from './redaction.ts';
import type { HttpResponse } from './response.ts';

/** What the service says about its requests. Every line has the request id of the answer. */
export interface RequestLog {
  /** An error that is the service's own; what is the client's fault is in the line of the answer. */
  failure(error: ApiError, requestId: string): void;
  /**
   * A request that was answered: refused ones at level `info`, all others at `debug`, there with what was sent and
   * answered, as far as the contract lets it be seen.
   */
  answered(
    request: IncomingMessage,
    exchange: Exchange | ApiError,
    answer: HttpResponse,
    requestId: string,
  ): void;
}

export function createRequestLog(logger: Logger): RequestLog {
  return {
    failure(error, requestId) {
      const { code, cause = error } = error;
      if (code === 'INTERNAL_ERROR') logger.error({ request_id: requestId, err: cause }, code);
      // One line each: while a database is lost there are many of them, and all say the same.
      else if (error.status >= 500)
        logger.warn({ request_id: requestId, reason: (cause as Error).message }, code);
    },

    answered({ method, url }, exchange, { status, body }, requestId) {
      const level = status >= 400 ? 'info' : 'debug';
      if (!logger.isLevelEnabled(level)) return;
      const line = { request_id: requestId, method, path: url!.split('?', 1)[0], status };
      if (exchange instanceof ApiError) {
        logger[level]({ ...line, code: exchange.code }, 'answered');
        return;
      }
      const { operation, client } = exchange;
      const { code, error } = body as { code?: unknown; error?: unknown };
      logger[level](
        {
          ...line,
          operation: operation.operationId,
          address: client.address,
          ...(status >= 400 && { code: typeof code === 'string' ? code : error }),
          ...(logger.isLevelEnabled('debug') && {
            request: redact(requestSchema(operation), exchange.body),
            ...(status < 400 && { response: redact(responseSchema(operation, status), body) }),
          }),
        },
        'answered',
      );
    },
  };
}
