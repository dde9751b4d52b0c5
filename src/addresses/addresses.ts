/**
 * Where what others look for is: every address that a document, a challenge or a mail names, from the configuration. An
 * address of the API begins with `{base_url}`, one of a page or a published document with `{web_url}`.
 */
export interface Addresses {
  /** `{base_url}`: the issuer of tokens (RFC 8414), and the API as a protected resource. */
  issuer(): string;
  /** `{web_url}`. */
  web(): string;
  /** The MCP endpoint, a protected resource of its own. */
  mcp(): string;
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
  return {
    issuer: baseUrl,
    web: webUrl,
    mcp: () => `${baseUrl()}${MCP_PATH}`,
    resourceMetadata(host, path) {
      const base = host !== undefined && host === URL.parse(webUrl())?.host ? webUrl() : baseUrl();
      return `${base}${RESOURCE_METADATA_PATH}${path === MCP_PATH ? MCP_PATH : ''}`;
    },
    agentRegister: () => `${baseUrl()}/api/v1/agent/register`,
    agentClaim: () => `${baseUrl()}/api/v1/agent/claim`,
    agentRevoke: () => `${baseUrl()}/api/v1/agent/revoke`,
  };
}
