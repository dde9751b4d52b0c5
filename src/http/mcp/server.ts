import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  ListToolsRequestSchema,
  McpError,
  PingRequestSchema,
  type CallToolRequest,
  type CallToolResult,
  type JSONRPCMessage,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import type { HttpResponse } from '../transport/response.ts';
import { RPC, rpcResponse } from './rpc-error.ts';

const INSTRUCTIONS = `Latchkey sells and checks licenses of desktop programs: developers have applications, and
applications have license keys and users.
Begin with list_applications: the other tools take its app_id. Find a user by find_users, then use its
user_id. Lists come in pages: pass next_cursor as cursor. Where a tool takes idempotency_key, send a new one for each
intended effect, and the same one when you call again. A failed call says what to do; do not repeat it unchanged.`;

export { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';

/** The parts of an MCP server. */
export interface ServerParts {
  readonly version: string;
  readonly websiteUrl: string;
  readonly tools: readonly Tool[];
  /** Calls an existing tool. */
  call(params: CallToolRequest['params']): Promise<CallToolResult>;
}

/** The requests that the server supports. */
const REQUESTS = {
  initialize: InitializeRequestSchema,
  ping: PingRequestSchema,
  'tools/list': ListToolsRequestSchema,
  'tools/call': CallToolRequestSchema,
};

// Unused, but a server would otherwise create its own for each request.
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/**
 * Responds to one message. No state is kept between messages, so any node can process any of them.
 * @param url of the endpoint
 * @param protocolVersion the header with the version that the client has agreed to
 */
export async function respondTo(
  message: JSONRPCMessage,
  url: string,
  protocolVersion: string | undefined,
  { version, websiteUrl, tools, call }: ServerParts,
): Promise<HttpResponse> {
  // The library would report invalid parameters as an internal error.
  const refused = invalidParams(message);
  if (refused) return refused;
  const server = new Server(
    { name: 'latchkey', title: 'Latchkey', version, websiteUrl },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...tools] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    if (!tools.some(({ name }) => name === params.name)) {
      throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
    return call(params);
  });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const headers = {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
    };
    const request = new Request(url, { method: 'POST', headers });
    const response = await transport.handleRequest(request, { parsedBody: message });
    const text = await response.text();
    const mediaType = response.headers.get('content-type') ?? undefined;
    return text === '' ? { status: response.status } : { status: response.status, mediaType, text };
  } finally {
    await server.close();
  }
}

function invalidParams(message: JSONRPCMessage): HttpResponse | undefined {
  if (!('method' in message && 'id' in message) || !Object.hasOwn(REQUESTS, message.method)) return undefined;
  const { success, error } = REQUESTS[message.method as keyof typeof REQUESTS].safeParse(message);
  if (success) return undefined;
  const path = error.issues[0]?.path ?? [];
  return rpcResponse(
    200,
    {
      code: RPC.invalidParams,
      message: `Invalid params: ${path.join('.')} is missing or has the wrong type.`,
    },
    message.id,
  );
}
