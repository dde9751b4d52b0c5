import type { ErrorObject } from 'ajv';
import { OpenAPIBackend, type Context, type Document, type Operation } from 'openapi-backend';
import { requestValidators } from '../../../generated/request-validators.js';
import type { Handler, HandlerResponse, Handlers, OperationId } from '../../../handlers/handler.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { RequestScope } from '../../platform/request-scope.ts';
import type { Services } from '../../services.ts';
import { EVENT_STREAM, type HttpResponse } from '../transport/response.ts';
import { createAuthentication, faultOf, identityOf, type Identity } from './authentication.ts';
import { createContentReader, isOpen } from './content.ts';
import { ContractValidator } from './contract-validator.ts';
import { deprecatedOperations, type Deprecated } from './deprecation.ts';
import type { Exchange } from './exchange.ts';
import { validationFailed } from './faults.ts';
import { toContractRequest, toHandlerRequest } from './handler-request.ts';
import { createOnce } from './idempotency.ts';
import { recheckedStream } from './rechecked-stream.ts';
import { assertSameOrigin } from './same-origin.ts';
import { createTrustReader, readTrustHeaders } from './device-signature.ts';
import { TableRouter, type ContractRequest } from './table-router.ts';
import { setTenant, tenantOf } from './tenant.ts';
import { Uploads } from './uploads.ts';

/** The operations of the contract, ready to be called. */
export interface Contract {
  /** The operations at a path by their method in upper case; undefined when the contract has no such path. */
  operationsAt(path: string): ReadonlyMap<string, Operation> | undefined;
  readonly deprecated: readonly Deprecated[];
  /**
   * Runs an operation: security, body, limits, signature, validation, handler.
   * @returns the response of the handler
   * @throws the first error of these steps
   */
  dispatch(exchange: Exchange): Promise<HttpResponse>;
}

/** Extensions of an operation. */
interface Mark {
  /** Only the service's own pages may call it. */
  readonly 'x-same-origin'?: boolean;
  /** In seconds, not counting the time that its body takes to arrive. */
  readonly 'x-time-limit'?: number;
}

/**
 * Binds the contract to its handlers.
 * @param definition the parsed contract
 * @param handlers the handlers by operationId
 * @param now the current time
 * @throws Error when an operation has no handler or no validator, or a handler has no operation
 */
export async function bindContract(
  definition: Document,
  handlers: Handlers,
  services: Services,
  now: () => Date,
): Promise<Contract> {
  const api = new OpenAPIBackend({
    definition,
    strict: true,
    quick: true,
    securityHandlers: createAuthentication(services, now),
  });
  const once = createOnce(services);
  const uploads = new Uploads();
  const readTrustOf = createTrustReader(services, now);
  const readContent = createContentReader(services, uploads, readTrustOf);
  await api.init();
  const router = new TableRouter(api.definition);
  api.router = router;
  api.validator = new ContractValidator(api.definition, router, requestValidators);

  assertSame(
    'handlers',
    Object.keys(handlers),
    router.getOperations().map(({ operationId }) => operationId!),
  );
  assertSame('validators', Object.keys(requestValidators), Object.keys(handlers));

  for (const operationId of Object.keys(handlers) as OperationId[]) {
    const handler = handlers[operationId] as Handler<OperationId>;
    api.register(
      operationId,
      async (context: Context, _request: ContractRequest, exchange: Exchange): Promise<HttpResponse> => {
        const identity = identityOf(context);
        const work = async () => {
          const response = toResponse(await handler(toHandlerRequest(context, exchange), services));
          return rechecked(response, identity, now);
        };
        return once(exchange, identity, work);
      },
    );
  }
  api.register({
    methodNotAllowed: notFound,
    notFound,
    unauthorizedHandler: () => {
      throw new ApiError('UNAUTHORIZED');
    },
    validationFail: (context: Context) => {
      throw validationFailed((context.validation.errors ?? []) as ErrorObject[]);
    },
    // Between security and validation, so that no body is parsed without valid credentials.
    postSecurityHandler: async (context: Context, request: ContractRequest, exchange: Exchange) => {
      const { operation } = exchange;
      // An invalid token is refused even where a token is optional.
      const fault = faultOf(context);
      if (fault !== undefined) throw fault;
      const identity = isOpen(operation) ? {} : identityOf(context);
      setTenant(tenantOf(identity));
      if (!isOpen(operation) && !context.security['authorized']) return;
      if ('requestBody' in operation) await readContent(request, exchange, identity);
    },
  });

  return {
    operationsAt: (path) => router.operationsAt(path),
    deprecated: deprecatedOperations(router.getOperations()),
    async dispatch(exchange) {
      const { 'x-same-origin': isForPages, 'x-time-limit': seconds } = exchange.operation as Mark;
      if (isForPages) assertSameOrigin(exchange.request, services.addresses);
      if (seconds !== undefined) RequestScope.current()?.limit(seconds * 1000);
      const request = toContractRequest(exchange);
      // As a tool of MCP, an operation has the headers of another request.
      if (exchange.resource !== 'mcp') {
        exchange.trustHeaders = readTrustHeaders(exchange.request, exchange.path);
        if (!('requestBody' in exchange.operation)) await readTrustOf(exchange);
      }
      try {
        return await api.handleRequest(request, request, exchange);
      } finally {
        uploads.release(exchange);
      }
    },
  };
}

/** Streams of events recheck their credentials themselves, also while nothing happens. */
function rechecked(response: HttpResponse, { isStillAllowed }: Identity, now: () => Date): HttpResponse {
  const { stream, mediaType } = response;
  if (!stream || !isStillAllowed || mediaType === EVENT_STREAM) return response;
  return { ...response, stream: recheckedStream(stream, isStillAllowed, now) };
}

function toResponse(result: HandlerResponse<OperationId>): HttpResponse {
  const response: HttpResponse = result;
  return response.body === undefined ? response : { ...response, mediaType: 'application/json' };
}

function notFound(): never {
  throw new ApiError('NOT_FOUND');
}

function assertSame(what: string, given: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  const unexpected = given.filter((name) => !wanted.includes(name));
  if (missing.length + unexpected.length === 0) return;
  throw new Error(
    `${what} and contract disagree: missing ${missing.join(', ') || '-'}, unexpected ${unexpected.join(', ') || '-'}`,
  );
}
