import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import contractDocument from '../../generated/openapi.json' with { type: 'json' };
import { ApiError } from '../../src/foundation/errors/api-error.ts';
import type { Contract } from '../../src/http/contract/contract.ts';
import { createMcpEndpoint } from '../../src/http/mcp/endpoint.ts';
import type { HttpResponse } from '../../src/http/transport/response.ts';
import type { Services } from '../../src/services.ts';

/** The endpoint, with operations that fail with an error. */
function failing(error: unknown) {
  const operation = { operationId: 'getDeveloper' };
  const contract = {
    operationsAt: () => new Map([['GET', operation]]),
    dispatch: () => Promise.reject(error),
  } as unknown as Contract;
  const address = () => 'http://127.0.0.1/mcp';
  const services = {
    addresses: { issuer: address, web: address, mcp: address },
    bearerTokens: {
      authenticate: async () => ({
        kind: 'agent',
        scopes: ['agent:execute', 'read'],
        audience: null,
      }),
    },
  } as unknown as Services;
  return createMcpEndpoint({ contract, document: contractDocument, services });
}

function requestOf(message: object): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const body = JSON.stringify(message);
  request.method = 'POST';
  request.headers = {
    authorization: 'Bearer token',
    'content-type': 'application/json',
    'content-length': String(body.length),
  };
  request.push(body);
  request.push(null);
  return request;
}

const problemOf = (error: ApiError): HttpResponse => ({
  status: error.status,
  mediaType: 'application/problem+json',
  body: { code: error.code, title: 'Title', detail: error.detail },
  headers: error.retryAfter === undefined ? {} : { 'Retry-After': String(error.retryAfter) },
});

test.each([
  [new Error('secret of the code'), 500, 'INTERNAL_ERROR'],
  [new ApiError('SERVICE_UNAVAILABLE', { retryAfter: 1 }), 503, 'SERVICE_UNAVAILABLE'],
  // The token was revoked after it was accepted.
  [new ApiError('UNAUTHORIZED'), 401, 'UNAUTHORIZED'],
])('%s in the middle of a call is an HTTP response', async (error, status, code) => {
  const message = { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'get_account' } };
  const client = { address: '127.0.0.1' };
  const { response, outcome, exchange } = await failing(error).respond(requestOf(message), client, problemOf);
  expect(response.status).toBe(status);
  expect(JSON.parse(response.text!)).toMatchObject({ jsonrpc: '2.0', id: 'x', error: { data: { code } } });
  expect(response.text).not.toContain('secret of the code');
  expect(response.headers?.['Retry-After']).toBe(status === 503 ? '1' : undefined);
  expect(outcome).toMatchObject({ status, body: { code } });
  expect(exchange!.operation.operationId).toBe('getDeveloper');
});
