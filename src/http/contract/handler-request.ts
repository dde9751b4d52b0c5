import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Context, Operation } from 'openapi-backend';
import type { HandlerRequest, OperationId } from '../../../handlers/handler.ts';
import { mediaTypeOf } from '../transport/request-body.ts';
import { identityOf } from './authentication.ts';
import type { Exchange } from './exchange.ts';
import { paymentCredential } from './payment-credential.ts';
import { parseQuery } from './query.ts';
import type { ContractRequest } from './table-router.ts';

/** The request of an exchange for openapi-backend. */
export function toContractRequest({ operation, request, path, search, client }: Exchange): ContractRequest {
  return {
    operation,
    method: operation.method,
    path,
    headers: headersOf(request) as ContractRequest['headers'],
    query: parseQuery(ignoresQuery(operation) ? '' : search),
    client,
  };
}

/** A validated request for the handler of its operation. */
export function toHandlerRequest(
  context: Context,
  { operation, request: raw, bytes, trust }: Exchange,
): HandlerRequest<OperationId> {
  const { request } = context as unknown as { readonly request: ContractRequest };
  return {
    ...identityOf(context),
    payment: acceptsPayment(operation, raw) ? paymentCredential(raw.headers.authorization) : undefined,
    body: request.requestBody,
    rawBody: bytes,
    allHeaders: raw.headers,
    upload: request.upload,
    uploadBytes: announcedBytes(raw),
    uploadType: request.upload && mediaTypeOf(raw),
    path: context.request.params,
    query: context.request.query,
    headers: request.headers,
    client: request.client,
    trust,
    signer: request.signer,
    signable: request.signable,
  } as unknown as HandlerRequest<OperationId>;
}

/** A HEAD request would charge the client without returning the body. */
function acceptsPayment(operation: Operation, { method }: IncomingMessage): boolean {
  const mark = (operation as { readonly 'x-accepts-payment'?: boolean })['x-accepts-payment'];
  return mark === true && method !== 'HEAD';
}

function ignoresQuery(operation: Operation): boolean {
  return (operation as { readonly 'x-ignores-query'?: boolean })['x-ignores-query'] === true;
}

function headersOf({ method, headers }: IncomingMessage): IncomingHttpHeaders {
  if (method !== 'HEAD' || headers.range === undefined) return headers;
  // Ranges apply to GET only (RFC 9110, section 14.2).
  const { range: _range, ...withoutRange } = headers;
  return withoutRange;
}

function announcedBytes({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}
