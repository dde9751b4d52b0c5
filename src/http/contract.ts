import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ErrorObject } from 'ajv';
import { OpenAPIBackend, type Context, type Document, type Operation } from 'openapi-backend';
import { requestValidators } from '../../generated/request-validators.js';
import type {
  Handler,
  HandlerRequest,
  HandlerResponse,
  Handlers,
  OperationId,
} from '../../handlers/handler.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import { RequestScope } from '../platform/request-scope.ts';
import type { Services } from '../services.ts';
import { createAuthentication, type Identity, type Resource } from './authentication.ts';
import { ContractValidator } from './contract-validator.ts';
import { deprecatedOperations, type Deprecated } from './deprecation.ts';
import { validationFailed } from './faults.ts';
import { HeldBodies } from './held-bodies.ts';
import { createOnce } from './idempotency.ts';
import { negotiate } from './media-type.ts';
import { parseQuery } from './query.ts';
import { countRequest, type RateLimitScope } from './rate-limit.ts';
import { mediaTypeOf, openUpload, readJsonBody } from './request-body.ts';
import type { HttpResponse } from './response.ts';
import { readSignature, type SignatureMode } from './signature.ts';
import { TableRouter, type ContractRequest } from './table-router.ts';

/** The operations of the contract, ready to be called. */
export interface Contract {
  /** The operations at a path by their method in upper case; undefined when the contract has no such path. */
  operationsAt(path: string): ReadonlyMap<string, Operation> | undefined;
  readonly deprecated: readonly Deprecated[];
  /**
   * Runs an operation: security, body, limits, signature, validation, handler.
   * @returns the handler's answer
   * @throws whatever stops the request on the way
   */
  dispatch(exchange: Exchange): Promise<HttpResponse>;
}

/** A request to an operation, and what becomes known on the way to its answer. */
export interface Exchange {
  readonly operation: Operation;
  readonly request: IncomingMessage;
  /** One of the contract's. */
  readonly path: string;
  readonly search: string;
  readonly client: Client;
  /** What the client's token must be for; the API unless told. */
  readonly resource?: Resource;
  /** Headers of the answer, whatever it will be. */
  readonly answerHeaders: Record<string, string>;
  /** The parsed body, once there is one. */
  body?: unknown;
  /** The body as it came, once it was read; of an upload its SHA-256, where it must be known. */
  bytes?: Buffer;
  /** Whether room was taken for the body, until the answer. */
  isHeld?: boolean;
}

/** Marks of an operation that this service acts upon. */
interface Marks {
  readonly 'x-rate-limit'?: RateLimitScope;
  readonly 'x-signature'?: SignatureMode;
  readonly 'x-hashes-password'?: boolean;
  readonly 'x-ignores-query'?: boolean;
  /** How large a body may be. */
  readonly 'x-max-bytes'?: number;
  /** Seconds that it may take beside the sending of its body, where those are more than 5. */
  readonly 'x-time-limit'?: number;
}

/**
 * Binds the contract to its handlers.
 * @param definition the parsed contract
 * @param handlers the registry
 * @param now the present
 * @throws Error when an operation has no handler or no validator, or a handler no operation
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
  const held = new HeldBodies();
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
        const work = async () => toResponse(await handler(toHandlerRequest(context, exchange), services));
        return once(exchange, identityOf(context), work);
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
    // Between security and validation: nobody without credentials gets a body parsed.
    postSecurityHandler: async (context: Context, request: ContractRequest, exchange: Exchange) => {
      const { operation } = exchange;
      // A wrong token is refused, also where none would do.
      const fault = findFault(context);
      if (fault !== undefined) throw fault;
      const isOpen = (operation.security ?? []).length === 0;
      if (!isOpen) noteTenant(tenantOf(identityOf(context)));
      if (!('requestBody' in operation)) return;
      if (!isOpen && !context.security['authorized']) return;
      const mediaTypes = Object.keys((operation.requestBody as { content: object }).content);
      const marks = operation as Marks;
      const { 'x-max-bytes': limit, 'x-rate-limit': scope, 'x-signature': mode } = marks;
      if (!isJson(mediaTypes, exchange.request)) {
        const owner = identityOf(context).actor?.developerId ?? '';
        const hold = (body: AsyncIterable<Uint8Array>) => {
          exchange.isHeld = true;
          return held.hold(exchange, owner, body);
        };
        request.upload = await openUpload(exchange, mediaTypes, hold, limit);
        if (scope) await countRequest(services, scope, undefined, exchange.client, exchange.answerHeaders);
        return;
      }
      const { bytes, value } = await readJsonBody(exchange.request, limit);
      request.requestBody = exchange.body = value;
      exchange.bytes = bytes;
      if (isOpen) noteTenant(appIdOf(value));
      if (scope) await countRequest(services, scope, appIdOf(value), exchange.client, exchange.answerHeaders);
      // Before anything is looked up: a flood costs little, and the answer says nothing of any application.
      if (marks['x-hashes-password']) services.passwords.assertRoom();
      if (mode) {
        const { headers } = exchange.request;
        const sent = { operation: operation.operationId!, headers, value, bytes };
        Object.assign(request, await readSignature(services, mode, sent));
      }
    },
  });

  return {
    operationsAt: (path) => router.operationsAt(path),
    deprecated: deprecatedOperations(router.getOperations()),
    async dispatch(exchange) {
      const { operation, path, client } = exchange;
      const { 'x-time-limit': seconds } = operation as Marks;
      if (seconds !== undefined) RequestScope.current()?.limit(seconds * 1000);
      const request: ContractRequest = {
        method: operation.method,
        path,
        headers: headersOf(exchange.request) as ContractRequest['headers'],
        query: parseQuery((operation as Marks)['x-ignores-query'] ? '' : exchange.search),
        client,
      };
      try {
        return await api.handleRequest(request, request, exchange);
      } finally {
        if (exchange.isHeld) held.release(exchange);
      }
    },
  };
}

function toHandlerRequest(
  context: Context,
  { operation, request: raw, bytes }: Exchange,
): HandlerRequest<OperationId> {
  const { request } = context as unknown as { readonly request: ContractRequest };
  return {
    ...identityOf(context),
    body: request.requestBody,
    rawBody: bytes,
    allHeaders: raw.headers,
    upload: request.upload,
    uploadBytes: announcedBytes(raw),
    uploadType: request.upload && mediaTypeOf(raw),
    path: context.request.params,
    query: context.request.query,
    headers: request.headers,
    mediaType: negotiate(operation, raw.headers.accept),
    client: request.client,
    signer: request.signer,
    signable: request.signable,
  } as unknown as HandlerRequest<OperationId>;
}

function headersOf({ method, headers }: IncomingMessage): IncomingHttpHeaders {
  if (method !== 'HEAD' || headers.range === undefined) return headers;
  // Ranges are for GET alone (RFC 9110, section 14.2).
  const { range: _range, ...withoutRange } = headers;
  return withoutRange;
}

function announcedBytes({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

/** Whoever the security handlers have found. */
function identityOf({ security }: Context): Identity {
  return Object.assign(
    {},
    ...Object.values(security ?? {}).filter((found) => typeof found === 'object'),
  ) as Identity;
}

function toResponse(answer: HandlerResponse<OperationId>): HttpResponse {
  const response: HttpResponse = answer;
  return response.body === undefined ? response : { ...response, mediaType: 'application/json' };
}

/** Whom a request belongs to: a developer, or for clients an application. */
function tenantOf({ actor, session, agent }: Identity): string | undefined {
  return actor?.developerId ?? session?.appId ?? agent?.id;
}

function noteTenant(tenant: string | undefined): void {
  const scope = RequestScope.current();
  if (scope && tenant !== undefined) scope.tenant = tenant;
}

/** Whether a body is to be read as JSON: of an operation that takes other types too, unless it is one of them. */
function isJson(mediaTypes: readonly string[], request: IncomingMessage): boolean {
  if (!mediaTypes.includes('application/json')) return false;
  if (mediaTypes.length === 1) return true;
  const sent = mediaTypeOf(request);
  return sent === 'application/json' || !mediaTypes.includes(sent);
}

/** The application that a body names; undefined when it names none. */
function appIdOf(body: unknown): string | undefined {
  const appId = (body as { app_id?: unknown } | null | undefined)?.app_id;
  return typeof appId === 'string' ? appId : undefined;
}

function notFound(): never {
  throw new ApiError('NOT_FOUND');
}

/**
 * What a security handler has thrown. openapi-backend takes all of it for wrong credentials, and a lost database is not one.
 */
function findFault(context: Context): unknown {
  const faulty = Object.values(context.security ?? {}).find(
    (result): result is { error: unknown } =>
      typeof result === 'object' && result !== null && 'error' in result,
  );
  return faulty?.error;
}

function assertSame(what: string, given: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  const surplus = given.filter((name) => !wanted.includes(name));
  if (missing.length + surplus.length === 0) return;
  throw new Error(
    `${what} and contract disagree: missing ${missing.join(', ') || '-'}, surplus ${surplus.join(', ') || '-'}`,
  );
}
