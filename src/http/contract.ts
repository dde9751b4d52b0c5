import { OpenAPIBackend, type Context, type Document } from 'openapi-backend';
import type { ErrorObject } from 'ajv';
import type { IncomingMessage } from 'node:http';
import { requestValidators } from '../../generated/request-validators.js';
import type { Handler, HandlerRequest, Handlers, OperationId } from '../../handlers/handler.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Services } from '../services.ts';
import { bearerToken } from './bearer.ts';
import { ContractValidator } from './contract-validator.ts';
import { validationFailed } from './faults.ts';
import { parseQuery } from './query.ts';
import { readJsonBody } from './request-body.ts';
import { TableRouter, type ContractRequest } from './table-router.ts';

/** The operations of the contract, ready to be called. */
export interface Contract {
  /** Methods at a path, in upper case; undefined when the contract has no such path. */
  methodsAt(path: string): string[] | undefined;
  /**
   * Runs an operation: security, body, validation, handler.
   * @param request its path is one of the contract's
   * @returns the handler's answer
   * @throws whatever stops the request on the way
   */
  dispatch(
    request: IncomingMessage,
    path: string,
    search: string,
  ): Promise<{ status: number; body: unknown }>;
}

/**
 * Binds the contract to its handlers.
 * @param definition the parsed contract
 * @param handlers the registry
 * @throws Error when an operation has no handler or no validator, or a handler no operation
 */
export async function bindContract(
  definition: Document,
  handlers: Handlers,
  services: Services,
): Promise<Contract> {
  const api = new OpenAPIBackend({
    definition,
    strict: true,
    quick: true,
    securityHandlers: {
      DeveloperToken: async (context: Context) => {
        const token = bearerToken(context.request.headers['authorization']);
        return token === undefined ? undefined : services.developers.authenticate(token);
      },
    },
  });
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
    api.register(operationId, (context: Context) => handler(toHandlerRequest(context), services));
  }
  api.register({
    methodNotAllowed: notFound,
    notFound,
    unauthorizedHandler: (context: Context) => {
      throw securityFault(context);
    },
    validationFail: (context: Context) => {
      throw validationFailed((context.validation.errors ?? []) as ErrorObject[]);
    },
    // Between security and validation: nobody without credentials gets a body parsed.
    postSecurityHandler: async (context: Context, request: ContractRequest, message: IncomingMessage) => {
      if (!('requestBody' in context.operation)) return;
      if ((context.operation.security ?? []).length > 0 && !context.security['authorized']) return;
      request.requestBody = await readJsonBody(message);
    },
  });

  return {
    methodsAt(path) {
      const methods = router.methodsAt(path);
      return methods && [...methods.keys()].map((method) => method.toUpperCase());
    },
    dispatch(message, path, search) {
      const method = message.method === 'HEAD' ? 'get' : message.method!.toLowerCase();
      const headers = message.headers as ContractRequest['headers'];
      const request: ContractRequest = { method, path, headers, query: parseQuery(search) };
      return api.handleRequest(request, request, message);
    },
  };
}

function toHandlerRequest(context: Context): HandlerRequest<OperationId> {
  return {
    body: context.request.requestBody,
    path: context.request.params,
    query: context.request.query,
    developer: context.security['DeveloperToken'],
  } as HandlerRequest<OperationId>;
}

function notFound(): never {
  throw new ApiError('NOT_FOUND');
}

/** openapi-backend takes whatever a security handler throws for wrong credentials: a lost database is not one. */
function securityFault(context: Context): unknown {
  const fault = Object.values(context.security).find(
    (result): result is { error: unknown } =>
      typeof result === 'object' && result !== null && 'error' in result,
  );
  return fault?.error ?? new ApiError('UNAUTHORIZED');
}

function assertSame(what: string, given: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  const surplus = given.filter((name) => !wanted.includes(name));
  if (missing.length + surplus.length === 0) return;
  throw new Error(
    `${what} and contract disagree: missing ${missing.join(', ') || '-'}, surplus ${surplus.join(', ') || '-'}`,
  );
}
