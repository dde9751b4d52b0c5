import type { IncomingMessage } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { Services } from '../../services.ts';
import { mediaTypeOf, readJsonBody } from '../transport/request-body.ts';
import type { Identity } from './authentication.ts';
import { mediaTypesOfBody } from './body-limit.ts';
import type { Exchange } from './exchange.ts';
import { countRequest, type RateLimitScope } from './rate-limit.ts';
import { readSignature, type SignatureMode } from './signature.ts';
import type { ContractRequest } from './table-router.ts';
import { setTenant } from './tenant.ts';
import type { Uploads } from './uploads.ts';

/** Extensions of an operation about the bodies that it accepts. */
interface Marks {
  readonly 'x-max-bytes'?: number;
  readonly 'x-rate-limit'?: RateLimitScope;
  readonly 'x-hashes-password'?: boolean;
  readonly 'x-signature'?: SignatureMode;
}

/** @returns whether an operation can be called without a token */
export function isOpen({ security = [] }: Operation): boolean {
  return security.length === 0;
}

/**
 * Reads the content of requests: the body, then the rate limit and the signature, which depend on it.
 * @returns reads the content of a request into it
 */
export function createContentReader(
  services: Services,
  uploads: Uploads,
  readTrustOf: (exchange: Exchange) => Promise<void>,
) {
  return async (request: ContractRequest, exchange: Exchange, { actor }: Identity): Promise<void> => {
    const { operation, client, responseHeaders } = exchange;
    const marks = operation as Marks;
    const { 'x-max-bytes': limit, 'x-rate-limit': scope, 'x-signature': mode } = marks;
    if (!isJson(mediaTypesOfBody(operation), exchange.request)) {
      request.upload = await uploads.open(exchange, actor?.developerId ?? '');
      if (scope) await countRequest(services, scope, undefined, client, responseHeaders);
      return;
    }
    const { bytes, value } = await readJsonBody(exchange.request, limit);
    request.requestBody = exchange.body = value;
    exchange.bytes = bytes;
    const appId = appIdOf(value);
    if (isOpen(operation)) setTenant(appId);
    if (scope) await countRequest(services, scope, appId, client, responseHeaders);
    // Before any lookup: a flood costs little, and the response does not reveal whether the application exists.
    if (marks['x-hashes-password']) services.passwords.assertCapacity();
    await readTrustOf(exchange);
    if (mode) {
      const { headers } = exchange.request;
      const { trust } = exchange;
      const sent = { operation: operation.operationId!, headers, value, bytes, trust };
      Object.assign(request, await readSignature(services, mode, sent));
    }
  };
}

/** Whether to read a body as JSON: always, unless its media type is another one that the operation accepts. */
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
