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
import { createToExchange, isForTheClient } from './call.ts';
import { CORS_HEADERS, isRebound, PREFLIGHT_HEADERS } from './origin.ts';
import type { Arguments } from './request.ts';
import { toErrorResult, toResult, type Problem } from './result.ts';
import { problemAsRpc, refusalResponse, RPC, RpcRefusal } from './rpc-error.ts';
import { toolsOf, type ContractDocument } from './tools.ts';

/** What every token needs here. */
const MCP_SCOPE = 'agent:execute';
/** What a client should ask for at first; it is told of more when it needs it. */
export const FIRST_SCOPES = `${MCP_SCOPE} read`;

/** So many members a message may have in all: the library takes much longer for them than a parser. */
const MOST_MEMBERS = 5_000;

const REPLAYED = 'Idempotency-Replayed';

/** With the library, whose memory a service without agents never needs. */
const library = () => import('./server.ts');

/** An answer of MCP, and what it was about. */
export interface McpAnswer {
  readonly response: HttpResponse;
  /** What becomes of a tool's call, as its operation would answer it over HTTP; of everything else, of the request. */
  readonly outcome: Outcome;
  /** With the operation of the tool that was called, if one was. */
  readonly exchange: Exchange | undefined;
}

interface Outcome {
  readonly status: number;
  readonly body?: unknown;
}

interface Dependencies {
  readonly contract: Contract;
  /** The contract, references and all. */
  readonly document: ContractDocument;
  readonly services: Services;
}

/** What is known of a request while it is answered. */
interface McpCall {
  readonly request: IncomingMessage;
  readonly client: Client;
  readonly authorization: string;
  readonly scopes: readonly string[];
  /** As a problem, which the log of the service has then. */
  readonly problemOf: (error: ApiError) => HttpResponse;
  id: string | number | null;
  exchange?: Exchange;
  outcome?: Outcome;
  /** What the answer is instead of one of MCP. */
  fault?: ApiError;
}

/**
 * The MCP endpoint: streamable HTTP (2025-11-25) without sessions and streams. Its tools are operations of the contract; a
 * call runs one of them as if it had been sent over HTTP, with the token of the request.
 */
export function createMcpEndpoint({ contract, document, services }: Dependencies) {
  const { addresses } = services;
  const tools = new Map(toolsOf(document).map((tool) => [tool.tool.name, tool]));
  const toolScopes = new Set([...tools.values()].flatMap(({ scopes }) => scopes));
  const toExchange = createToExchange(contract);
  const bearerOf = createBearerOf(services);
  const parts = {
    version: document.info.version,
    tools: [...tools.values()].map(({ tool }) => tool),
  };

  /** What the client must ask for: what it has must stay, because the new token is instead of the old one. */
  function insufficient(detail: string, held: readonly string[], demanded: readonly string[]): ApiError {
    const kept = held.filter((scope) => toolScopes.has(scope));
    const scope = [...new Set([MCP_SCOPE, ...kept, ...demanded])].join(' ');
    return new ApiError('INSUFFICIENT_SCOPE', { detail, members: { scope } });
  }

  /** @throws ApiError UNAUTHORIZED, INSUFFICIENT_SCOPE */
  async function authenticate({ headers }: IncomingMessage): Promise<readonly string[]> {
    const token = bearerToken(headers.authorization);
    const bearer = token === undefined ? undefined : await bearerOf(token, 'mcp');
    // A reseller has operations of his own, none of which is a tool.
    if (!bearer || bearer.kind === 'reseller') throw new ApiError('UNAUTHORIZED');
    const { scopes } = bearer;
    if (!scopes.some((scope) => scope === MCP_SCOPE)) {
      throw insufficient(`MCP requires the scope ${MCP_SCOPE}.`, scopes, []);
    }
    return scopes;
  }

  /** @throws RpcRefusal, and ApiError for a body that cannot be read */
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

  /** Before the call, because only an answer of HTTP lets a client ask for more. @throws ApiError INSUFFICIENT_SCOPE */
  function assertScopes(name: unknown, held: readonly string[]): void {
    const demanded = tools.get(name as string)?.scopes ?? [];
    if (demanded.every((scope) => held.includes(scope))) return;
    throw insufficient(`The tool ${String(name)} requires the scope ${demanded.join(' ')}.`, held, demanded);
  }

  async function call(visit: McpCall, params: CallToolRequest['params']): Promise<CallToolResult> {
    const { arguments: args = {}, _meta: meta, name } = params;
    try {
      visit.exchange = toExchange(tools.get(name)!, args as Arguments, meta?.['idempotency_key'], visit);
      const answer = await contract.dispatch(visit.exchange);
      const result = await toResult(answer);
      visit.outcome = { status: answer.status, body: result.structuredContent };
      const replayed = answer.headers?.[REPLAYED];
      if (replayed !== undefined) visit.exchange.responseHeaders[REPLAYED] = replayed;
      return result;
    } catch (error) {
      const apiError = toApiError(error);
      if (isForTheClient(apiError)) {
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
      // Tasks are not offered, and who does not offer them goes on without.
      delete message.params?.['task'];
      assertScopes(message.params?.['name'], visit.scopes);
    }
    const version = request.headers['mcp-protocol-version'];
    const { answerMessage } = await library();
    const response = await answerMessage(message, addresses.mcp(), version as string | undefined, {
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
  ): McpAnswer {
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
  ): Promise<McpAnswer> {
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
     * Answers a request to `addresses.mcpPath`.
     * @param problemOf makes a problem (RFC 9457) of an error, and notes it where it is the service's own
     */
    async answer(
      request: IncomingMessage,
      client: Client,
      problemOf: (error: ApiError) => HttpResponse,
    ): Promise<McpAnswer> {
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
