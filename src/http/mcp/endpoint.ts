import type { IncomingMessage } from 'node:http';
import type { CallToolRequest, CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import Negotiator from 'negotiator';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import { countMembersWritten } from '../../platform/json-text.ts';
import { RequestScope } from '../../platform/request-scope.ts';
import type { Services } from '../../services.ts';
import { createBearerOf } from '../contract/authentication.ts';
import { bearerToken } from '../transport/bearer.ts';
import type { Contract } from '../contract/contract.ts';
import type { Exchange } from '../contract/exchange.ts';
import { MethodNotAllowed } from '../transport/method-not-allowed.ts';
import { toApiError } from '../transport/problem.ts';
import { readJsonBody } from '../transport/request-body.ts';
import type { HttpResponse } from '../transport/response.ts';
import { createExchangeFactory, concernsClient } from './call.ts';
import { CORS_HEADERS, isRebound, PREFLIGHT_HEADERS } from './origin.ts';
import type { Arguments } from './request.ts';
import { toErrorResult, toResult, type Problem } from './result.ts';
import { problemAsRpc, refusalResponse, RPC, RpcRefusal } from './rpc-error.ts';
import { toolsOf, type ContractDocument } from './tools.ts';

/** The scope that every token needs here. */
const MCP_SCOPE = 'agent:execute';
/** The scopes that a client should request first; a 403 names others when a tool needs them. */
export const FIRST_SCOPES = `${MCP_SCOPE} read`;

/** The most members that a message may have: the library takes much longer for them than a parser. */
const MOST_MEMBERS = 5_000;

const REPLAYED = 'Idempotency-Replayed';

/** Loaded with its first use, because a service without agents does not need its memory. */
const library = () => import('./server.ts');

/** A response of MCP, and what to log about it. */
export interface McpResponse {
  readonly response: HttpResponse;
  /** The outcome of a tool call, as its operation would report it over HTTP; of any other request, its own outcome. */
  readonly outcome: Outcome;
  /** The exchange of the called tool's operation, if one was called. */
  readonly exchange: Exchange | undefined;
}

interface Outcome {
  readonly status: number;
  readonly body?: unknown;
}

interface Dependencies {
  readonly contract: Contract;
  /** The contract with its references unresolved. */
  readonly document: ContractDocument;
  readonly services: Services;
}

/** The state of a request while it is processed. */
interface McpCall {
  readonly request: IncomingMessage;
  readonly client: Client;
  readonly authorization: string;
  readonly scopes: readonly string[];
  /** Makes a problem of an error, and logs an error of the service itself. */
  readonly problemOf: (error: ApiError) => HttpResponse;
  id: string | number | null;
  exchange?: Exchange;
  outcome?: Outcome;
  /** An error that replaces the MCP response. */
  fault?: ApiError;
}

/**
 * The MCP endpoint: streamable HTTP (2025-11-25) without sessions and streams. Its tools are operations of the
 * contract; a call runs its operation as if it had been sent over HTTP, with the token of the request.
 */
export function createMcpEndpoint({ contract, document, services }: Dependencies) {
  const { addresses } = services;
  const tools = new Map(toolsOf(document).map((tool) => [tool.tool.name, tool]));
  const toolScopes = new Set([...tools.values()].flatMap(({ scopes }) => scopes));
  const toExchange = createExchangeFactory(contract);
  const bearerOf = createBearerOf(services);
  const parts = {
    version: document.info.version,
    tools: [...tools.values()].map(({ tool }) => tool),
  };

  /**
   * Names the scopes that the client must request, including those that it has, because the new token replaces the old
   * one.
   */
  function insufficient(detail: string, held: readonly string[], demanded: readonly string[]): ApiError {
    const kept = held.filter((scope) => toolScopes.has(scope));
    const scope = [...new Set([MCP_SCOPE, ...kept, ...demanded])].join(' ');
    return new ApiError('INSUFFICIENT_SCOPE', { detail, members: { scope } });
  }

  /** @throws ApiError UNAUTHORIZED, INSUFFICIENT_SCOPE */
  async function authenticate({ headers }: IncomingMessage): Promise<readonly string[]> {
    const token = bearerToken(headers.authorization);
    const bearer = token === undefined ? undefined : await bearerOf(token, 'mcp');
    // A reseller has operations of its own, none of which is a tool.
    if (!bearer || bearer.kind === 'reseller') throw new ApiError('UNAUTHORIZED');
    const { scopes } = bearer;
    if (!scopes.some((scope) => scope === MCP_SCOPE)) {
      throw insufficient(`MCP requires the scope ${MCP_SCOPE}.`, scopes, []);
    }
    return scopes;
  }

  /** @throws RpcRefusal, and ApiError for an unreadable body */
  async function readMessage(request: IncomingMessage): Promise<JSONRPCMessage> {
    const { accept = '*/*' } = request.headers;
    if (new Negotiator({ headers: { accept } }).mediaTypes(['application/json']).length === 0) {
      throw new RpcRefusal(406, RPC.refused, 'Not acceptable: responses are application/json.');
    }
    const { bytes, value } = await readJsonBody(request);
    if (Array.isArray(value)) {
      throw new RpcRefusal(
        400,
        RPC.invalidRequest,
        'Invalid request: send one message at a time, not a batch.',
      );
    }
    if (countMembersWritten(bytes.toString()) > MOST_MEMBERS) {
      const detail = `The message has more than ${MOST_MEMBERS} members.`;
      throw new ApiError('PAYLOAD_TOO_LARGE', { detail });
    }
    const { JSONRPCMessageSchema } = await library();
    const parsed = JSONRPCMessageSchema.safeParse(value);
    if (!parsed.success) {
      throw new RpcRefusal(
        400,
        RPC.invalidRequest,
        'Invalid request: the body is not a JSON-RPC 2.0 message.',
      );
    }
    return parsed.data;
  }

  /**
   * Runs before the call, because a client can request more scopes only after an HTTP error. @throws ApiError
   * INSUFFICIENT_SCOPE
   */
  function assertScopes(name: unknown, held: readonly string[]): void {
    const demanded = tools.get(name as string)?.scopes ?? [];
    if (demanded.every((scope) => held.includes(scope))) return;
    throw insufficient(`The tool ${String(name)} requires the scope ${demanded.join(' ')}.`, held, demanded);
  }

  async function call(visit: McpCall, params: CallToolRequest['params']): Promise<CallToolResult> {
    const { arguments: args = {}, _meta: meta, name } = params;
    try {
      visit.exchange = toExchange(tools.get(name)!, args as Arguments, meta?.['idempotency_key'], visit);
      const done = await contract.dispatch(visit.exchange);
      const result = await toResult(done);
      visit.outcome = { status: done.status, body: result.structuredContent };
      const replayed = done.headers?.[REPLAYED];
      if (replayed !== undefined) visit.exchange.responseHeaders[REPLAYED] = replayed;
      return result;
    } catch (error) {
      const apiError = toApiError(error);
      if (concernsClient(apiError)) {
        visit.fault = apiError;
        return { content: [] };
      }
      const { status, body, headers } = visit.problemOf(apiError);
      visit.outcome = { status, body };
      return toErrorResult(body as Problem, headers?.['Retry-After']);
    }
  }

  async function handleCall(visit: McpCall): Promise<HttpResponse> {
    const { request } = visit;
    const message = await readMessage(request);
    const isRequest = 'method' in message && 'id' in message;
    if (isRequest) visit.id = message.id;
    if (isRequest && message.method === 'tools/call') {
      // Tasks are not offered, so the parameter is ignored.
      delete message.params?.['task'];
      assertScopes(message.params?.['name'], visit.scopes);
    }
    const version = request.headers['mcp-protocol-version'];
    const { respondTo } = await library();
    const response = await respondTo(message, addresses.mcp(), version as string | undefined, {
      ...parts,
      websiteUrl: addresses.web(),
      call: (params) => call(visit, params),
    });
    if (visit.fault) throw visit.fault;
    return { ...response, headers: { ...visit.exchange?.responseHeaders } };
  }

  function refused(
    error: unknown,
    problemOf: (error: ApiError) => HttpResponse,
    id: McpCall['id'],
  ): McpResponse {
    if (error instanceof RpcRefusal) {
      return { response: refusalResponse(error), outcome: { status: error.status }, exchange: undefined };
    }
    const problem = problemOf(toApiError(error));
    const { status, body } = problem;
    return { response: problemAsRpc(problem, id), outcome: { status, body }, exchange: undefined };
  }

  async function post(
    request: IncomingMessage,
    client: Client,
    problemOf: (error: ApiError) => HttpResponse,
  ): Promise<McpResponse> {
    let visit: McpCall | undefined;
    try {
      if (isRebound(request, [addresses.issuer(), addresses.web()])) {
        throw new RpcRefusal(403, RPC.refused, 'Forbidden: the Origin does not belong to this server.');
      }
      const scope = RequestScope.current();
      const inTime = <Result>(work: Promise<Result>) => scope?.race(work) ?? work;
      const scopes = await inTime(authenticate(request));
      const { authorization = '' } = request.headers;
      visit = { request, client, authorization, scopes, problemOf, id: null };
      const response = await inTime(handleCall(visit));
      return { response, outcome: visit.outcome ?? { status: response.status }, exchange: visit.exchange };
    } catch (error) {
      return { ...refused(error, problemOf, visit?.id ?? null), exchange: visit?.exchange };
    }
  }

  return {
    /**
     * Responds to a request to `addresses.mcpPath`.
     * @param problemOf makes a problem (RFC 9457) of an error, and logs an error of the service itself
     */
    async respond(
      request: IncomingMessage,
      client: Client,
      problemOf: (error: ApiError) => HttpResponse,
    ): Promise<McpResponse> {
      if (request.method === 'POST') {
        const { response, ...rest } = await post(request, client, problemOf);
        return { ...rest, response: { ...response, headers: { ...response.headers, ...CORS_HEADERS } } };
      }
      const response =
        request.method === 'OPTIONS'
          ? { status: 204, headers: PREFLIGHT_HEADERS }
          : problemOf(new MethodNotAllowed(['POST']));
      const headers = { ...response.headers, ...CORS_HEADERS };
      return { response: { ...response, headers }, outcome: response, exchange: undefined };
    },
  };
}
