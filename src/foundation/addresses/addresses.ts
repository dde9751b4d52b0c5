/**
 * The URLs that documents, challenges and mails contain, from the configuration. URLs of the API begin with
 * `{base_url}`, those of pages and published documents with `{web_url}`.
 */
export interface Addresses {
  /** `{base_url}`: the issuer of tokens (RFC 8414), and the API as a protected resource. */
  issuer(): string;
  /** `{web_url}`. */
  web(): string;
  /**
   * The API as the protected resource of a request: `{web_url}` for requests to that host, otherwise
   * `{base_url}`.
   * @param host the `Host` header of the request
   */
  resource(host: string | undefined): string;
  /** The MCP endpoint, a separate protected resource. */
  mcp(): string;
  /** Its path. */
  readonly mcpPath: string;
  /**
   * The metadata of the protected resource of a request (RFC 9728, section 3.1).
   * @param host the `Host` header of the request
   * @param path the path of the request
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
