import type { HttpResponse } from '../transport/response.ts';

/** Codes of JSON-RPC 2.0, and -32000 of MCP for what it has none for. */
export const RPC = {
  parseError: -32_700,
  invalidRequest: -32_600,
  invalidParams: -32_602,
  internalError: -32_603,
  refused: -32_000,
} as const;

/** A message that is refused before it is one of MCP. */
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

/** The names of our errors that JSON-RPC has codes for. */
const CODES: Readonly<Record<string, number>> = {
  MALFORMED_JSON: RPC.parseError,
  MALFORMED_REQUEST: RPC.invalidRequest,
  INTERNAL_ERROR: RPC.internalError,
  SERVICE_UNAVAILABLE: RPC.internalError,
};

/** An HTTP answer that says what is wrong as JSON-RPC does, about no message in particular. */
export function refusalResponse({ status, code, message }: RpcRefusal): HttpResponse {
  return rpcResponse(status, { code, message }, null);
}

/**
 * A problem as MCP clients read it: an error of JSON-RPC, with the problem as its data.
 * @param id of the request, where it is known
 */
export function problemAsRpc(problem: HttpResponse, id: string | number | null): HttpResponse {
  const { code, title, detail } = problem.body as Readonly<Record<'code' | 'title' | 'detail', string>>;
  const error = { code: CODES[code] ?? RPC.refused, message: `${title}: ${detail}`, data: problem.body };
  return rpcResponse(problem.status, error, id, problem.headers);
}

/** An HTTP answer that is an error of JSON-RPC. @param id of the request; null where it is not known */
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
