import type { HttpResponse } from '../transport/response.ts';

/** Codes of JSON-RPC 2.0, and -32000 for errors that JSON-RPC has no code for. */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internalError: -32_603,
  refused: -32_000,
} as const;

/** A message that is refused before MCP processes it. */
export class RpcRefusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.name = 'RpcRefusal';
    this.status = status;
    this.code = code;
  }
}

/** The errors of the service that have a code in JSON-RPC. */
const CODES: Readonly<Record<string, number>> = {
  MALFORMED_JSON: RPC.parseError,
  MALFORMED_REQUEST: RPC.invalidRequest,
  INTERNAL_ERROR: RPC.internalError,
  SERVICE_UNAVAILABLE: RPC.internalError,
};

/** An HTTP response with a JSON-RPC error that belongs to no particular message. */
export function refusalResponse({ status, code, message }: RpcRefusal): HttpResponse {
  return rpcResponse(status, { code, message }, null);
}

/**
 * A problem as MCP clients read it: a JSON-RPC error, with the problem as its data.
 * @param id of the request, if known
 */
export function problemAsRpc(problem: HttpResponse, id: string | number | null): HttpResponse {
  const { code, title, detail } = problem.body as Readonly<Record<'code' | 'title' | 'detail', string>>;
  const error = { code: CODES[code] ?? RPC.refused, message: `${title}: ${detail}`, data: problem.body };
  return rpcResponse(problem.status, error, id, problem.headers);
}

/** An HTTP response with a JSON-RPC error. @param id of the request; null if unknown */
export function rpcResponse(
  status: number,
  error: object,
  id: string | number | null,
  headers?: HttpResponse['headers'],
): HttpResponse {
  return {
    status,
    mediaType: 'application/json',
    text: JSON.stringify({ jsonrpc: '2.0', error, id }),
    headers,
  };
}
