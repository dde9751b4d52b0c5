import { operationsOf, type MarkedOperation, type Sources } from './sources.ts';

/** The kinds of bearer tokens that the authorization server issues. */
const DELEGABLE = ['developer', 'agent'];
/** Required for every tool, in addition to the scopes of its operation. */
const MCP_SCOPE = 'agent:execute';

/**
 * The metadata of the API as a protected resource (RFC 9728).
 * @param resource `{base_url}` or `{web_url}`: clients compare it with the address that they requested
 */
export async function apiResource(sources: Sources, resource: string): Promise<object> {
  const wanted = operationsOf(sources.contract())
    .filter(({ 'x-bearer-token': kind }) => kind !== undefined && DELEGABLE.includes(kind))
    .flatMap(scopesOf);
  return metadata(sources, { resource, name: 'Latchkey', wanted });
}

/**
 * The metadata of the MCP endpoint. It lists only the scopes of tools, because clients request every scope listed here.
 */
export async function mcpResource(sources: Sources): Promise<object> {
  const tools = operationsOf(sources.contract()).filter((operation) => operation['x-mcp-tool']);
  const wanted = [MCP_SCOPE, ...tools.flatMap(scopesOf)];
  return metadata(sources, { resource: sources.addresses.mcp(), name: 'Latchkey MCP', wanted });
}

function scopesOf(operation: MarkedOperation): readonly string[] {
  return operation['x-scopes'] ?? [];
}

interface Resource {
  readonly resource: string;
  readonly name: string;
  /** The scopes of its operations. */
  readonly wanted: readonly string[];
}

async function metadata(
  { addresses, authorizationServer }: Sources,
  { resource, name, wanted }: Resource,
): Promise<object> {
  const { scopes_supported: granted = [] } = await authorizationServer();
  return {
    resource,
    resource_name: name,
    authorization_servers: [addresses.issuer()],
    scopes_supported: granted.filter((scope) => wanted.includes(scope)),
    bearer_methods_supported: ['header'],
    resource_documentation: `${addresses.web()}/auth.md`,
  };
}
