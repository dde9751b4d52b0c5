/**
 * Where what others look for is: every address that a document, a challenge or a mail names, from the configuration. An
 * address of the API begins with `{base_url}`, one of a page or a published document with `{web_url}`.
 */
export interface Addresses {
  /** `{base_url}`: the issuer of tokens (RFC 8414), and the API as a protected resource. */
  issuer(): string;
  /** `{web_url}`. */
  web(): string;
  /**
   * The API as the protected resource that a request is for: `{web_url}` where it came to that host, else `{base_url}`.
   * @param host the request's `Host`
   */
  resource(host: string | undefined): string;
  /** The MCP endpoint, a protected resource of its own. */
  mcp(): string;
  /** Its path. */
  readonly mcpPath: string;
  /**
   * The metadata of the protected resource that a request is for (RFC 9728, section 3.1).
   * @param host the request's `Host`
   * @param path the request's path
   */
  resourceMetadata(host: string | undefined, path: string): string;
  agentRegister(): string;
  agentClaim(): string;
  agentRevoke(): string;
}

export const MCP_PATH = '/mcp';
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

export function createAddresses(baseUrl: () => string, webUrl: () => string): Addresses {
  const resource = (host: string | undefined) =>
    host !== undefined && host.toLowerCase() === URL.parse(webUrl())?.host ? webUrl() : baseUrl();
  return {
    issuer: baseUrl,
    web: webUrl,
    resource,
    mcp: () => `${baseUrl()}${MCP_PATH}`,
    mcpPath: MCP_PATH,
    resourceMetadata(host, path) {
      if (path === MCP_PATH) return `${baseUrl()}${RESOURCE_METADATA_PATH}${MCP_PATH}`;
      return `${resource(host)}${RESOURCE_METADATA_PATH}`;
    },
    agentRegister: () => `${baseUrl()}/api/v1/agent/register`,
    agentClaim: () => `${baseUrl()}/api/v1/agent/claim`,
    agentRevoke: () => `${baseUrl()}/api/v1/agent/revoke`,
  };
}
