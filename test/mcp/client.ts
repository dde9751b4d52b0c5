import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Api } from '../support/api.ts';
import { unique } from '../support/fixtures.ts';
import type { TestService } from '../support/service.ts';

/** A result of a tool. */
export interface Result {
  readonly isError: boolean;
  readonly text: string;
  readonly content: Readonly<Record<string, unknown>> | undefined;
}

/** A connection of an agent with the client of the SDK. */
export interface Agent {
  readonly client: Client;
  call(name: string, args?: Readonly<Record<string, unknown>>, meta?: object): Promise<Result>;
  /** The status and headers of the last response. */
  last(): Response;
}

/** Connects like an agent. @param token of the `Authorization` header */
export async function connectAgent(baseUrl: string, token: string): Promise<Agent> {
  let latest: Response | undefined;
  const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (init?.method === 'POST') latest = response;
      return response;
    },
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  // From here on, the client checks every result against the tool's output schema.
  await client.listTools();
  return {
    client,
    last: () => latest!,
    async call(name, args = {}, meta = undefined) {
      const params = { name, arguments: args, ...(meta && { _meta: meta as Record<string, unknown> }) };
      const { isError = false, content, structuredContent } = await client.callTool(params);
      const [{ text }] = content as [{ text: string }];
      return { isError: isError as boolean, text, content: structuredContent as Result['content'] };
    },
  };
}

/** An API token of a developer. */
export async function apiToken(api: Api, developer: string, scopes: readonly string[]): Promise<string> {
  const { status, body } = await api.post(
    '/api/v2/dev/tokens',
    { name: 'Agent', scopes },
    { token: developer },
  );
  if (status !== 201) throw new Error(`no token: ${JSON.stringify(body)}`);
  return body['token'] as string;
}

/** Sends one message unchanged. */
export function send(
  baseUrl: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
}

export const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** An access token as the authorization server issues it. */
export async function accessToken(
  { services, database, clock }: TestService,
  developerId: string | null,
  { scopes, audience }: { readonly scopes: readonly string[]; readonly audience: string },
): Promise<string> {
  const clientId = 'cli_01kb0p5c9hf4r7t0v3x6z9b2d5';
  const expiresAt = new Date(clock.now().getTime() + 600_000);
  const claims = { client_id: clientId, scope: scopes.join(' '), jti: unique('jti') };
  const token = await services.signingKeys.sign('at+jwt', claims);
  const issued = { clientId, developerId, agentId: null, grantId: null, scopes, audience, expiresAt };
  await services.accessTokens.register(database.knex, token, issued);
  return token;
}
