import type { Logger } from '../../platform/logger.ts';
import { RequestScope } from '../../platform/request-scope.ts';
import type { Services } from '../../services.ts';
import { toApiError } from '../transport/problem.ts';
import type { RequestContext } from './request-context.ts';
import { isPublicId } from './path-redaction.ts';

/**
 * Logs refused logins, one line each, with the reason and the account. Accounts that exist are named by their ids;
 * other names are not logged. Those of users of a known application are also collected for its developer.
 */
export interface LoginLog {
  /** Logs the response to a login of the API (`x-login` of its operation), if it is an error. */
  responded(context: RequestContext, status: number, code: unknown): void;
  /** Logs an error that refuses a developer on a sign-in page; called while the request is handled. */
  refusedOnPage(error: unknown, requestId: string): void;
}

/** Creates the log of refused logins. */
export function createLoginLog(logger: Logger, refused: Pick<Services['refusedLogins'], 'note'>): LoginLog {
  /** Collects refusals by the login itself: not malformed requests and failures of the service. */
  function collect(scope: RequestScope | undefined, operation: Marked, code: unknown): void {
    if (scope?.application === undefined || operation['x-login'] !== 'user') return;
    if (typeof code !== 'string' || !operation['x-error-codes']?.includes(code)) return;
    refused.note({ appId: scope.application, code, userId: scope.account });
  }

  return {
    responded({ requestId, exchange, scope }, status, code) {
      if (status < 400 || !exchange) return;
      const operation = exchange.operation as Marked;
      const { operationId, 'x-login': whose } = operation;
      if (whose === undefined) return;
      collect(scope, operation, code);
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

/** The marks of an operation that is a login. */
interface Marked {
  readonly operationId?: string;
  readonly 'x-login'?: 'user' | 'developer';
  readonly 'x-error-codes'?: readonly string[];
}
