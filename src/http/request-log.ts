import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import type { Logger } from '../platform/logger.ts';
import type { Exchange } from './contract.ts';
import { redact, requestSchema, responseSchema } from './redaction.ts';
import type { SeenPath } from './seen-path.ts';

/** What is logged of a request to an operation. */
type Operated = Pick<Exchange, 'operation' | 'body'>;

/** What the service says about its requests. Every line has the request id of the answer. */
export interface RequestLog {
  /** An error that is the service's own; what is the client's fault is in the line of the answer. */
  failure(error: ApiError, requestId: string): void;
  /**
   * A request that was answered: refused ones at level `info`, all others at `debug`, there with what was sent and
   * answered, as far as the contract lets it be seen.
   * @param request undefined where the connection gave no whole one
   * @param exchange undefined for what is for no operation of the contract
   */
  answered(
    request: IncomingMessage | undefined,
    client: Client,
    exchange: Operated | undefined,
    answer: { readonly status: number; readonly body?: unknown },
    requestId: string,
  ): void;
}

/** @param seenPath what may be logged of the target of a request */
export function createRequestLog(logger: Logger, seenPath: SeenPath): RequestLog {
  return {
    failure(error, requestId) {
      const { code, cause = error } = error;
      if (code === 'INTERNAL_ERROR') logger.error({ request_id: requestId, err: cause }, code);
      // One line each: while a database is lost there are many of them, and all say the same.
      else if (error.status >= 500)
        logger.warn({ request_id: requestId, reason: (cause as Error).message }, code);
    },

    answered(request, client, exchange, { status, body }, requestId) {
      const level = status >= 400 ? 'info' : 'debug';
      if (!logger.isLevelEnabled(level)) return;
      logger[level](
        {
          request_id: requestId,
          method: request?.method,
          path: request && seenPath(request.url!),
          operation: exchange?.operation.operationId,
          status,
          code: status >= 400 ? codeOf(body) : undefined,
          address: client.address,
          ...(exchange && logger.isLevelEnabled('debug') && seen(exchange, status, body)),
        },
        'answered',
      );
    },
  };
}

/** The code of an error in either model. */
function codeOf(body: unknown): unknown {
  const { code, error } = (body ?? {}) as { readonly code?: unknown; readonly error?: unknown };
  return typeof code === 'string' ? code : error;
}

function seen({ operation, body: sent }: Operated, status: number, answered: unknown): object {
  const request = redact(requestSchema(operation), sent);
  if (status >= 400) return { request };
  return { request, response: redact(responseSchema(operation, status), answered) };
}
