import type { Logger } from '../../platform/logger.ts';
import { RequestScope } from '../../platform/request-scope.ts';
import { toApiError } from '../transport/problem.ts';
import type { RequestContext } from './request-context.ts';
import { isPublicId } from './path-redaction.ts';

/**
 * Logs refused logins, one line each, with the reason and the account. Accounts that exist are named by their ids;
 * other names are not logged.
 */
export interface LoginLog {
  /** Logs the response to a login of the API (`x-login` of its operation), if it is an error. */
  responded(context: RequestContext, status: number, code: unknown): void;
  /** Logs an error that refuses a developer on a sign-in page; called while the request is handled. */
  refusedOnPage(error: unknown, requestId: string): void;
}

/** Creates the log of refused logins. */
export function createLoginLog(logger: Logger): LoginLog {
  return {
    responded({ requestId, exchange, scope }, status, code) {
      if (status < 400 || !exchange) return;
      const { operationId, 'x-login': whose } = exchange.operation as Marked;
      if (whose === undefined) return;
      const { app_id: appId } = (exchange.body ?? {}) as { readonly app_id?: unknown };
      logger.info(
        {
          request_id: requestId,
          operation: operationId,
          ...(typeof appId === 'string' && isPublicId(appId) && { app_id: appId }),
          ...(whose === 'user' ? { user_id: scope?.account } : { developer_id: scope?.account }),
          code,
        },
        'login refused',
      );
    },

    refusedOnPage(error, requestId) {
      const developerId = RequestScope.current()?.account;
      const { code } = toApiError(error);
      logger.info({ request_id: requestId, developer_id: developerId, code }, 'login refused');
    },
  };
}

/** The mark of an operation that is a login. */
interface Marked {
  readonly operationId?: string;
  readonly 'x-login'?: 'user' | 'developer';
}
