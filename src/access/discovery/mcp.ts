import { isIP } from 'node:net';
import { RESOURCE_METADATA_PATH } from '../../foundation/addresses/addresses.ts';
import type { Sources } from './sources.ts';

/** How an MCP client finds the endpoint and which versions it supports, before it connects (SEP-2127). */
export async function serverCard({ addresses, contract, mcp }: Sources): Promise<object> {
  const { title, version } = contract().info;
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: serverName(addresses.web()),
    version,
    title,
    description: 'Licensing and authentication for desktop and native applications.',
    websiteUrl: addresses.web(),
    remotes: [
      {
        type: 'streamable-http',
        url: addresses.mcp(),
        supportedProtocolVersions: await mcp.protocolVersions(),
      },
    ],
  };
}

/** The tool manifest: the server card, the server's description and the tools. */
export async function manifest(sources: Sources): Promise<object> {
  const { addresses, contract, mcp } = sources;
  const { $schema: _schema, ...card } = (await serverCard(sources)) as Record<string, unknown>;
  const { title, version } = contract().info;
  return {
    ...card,
    serverInfo: { name: 'latchkey', title, version },
    capabilities: { tools: {} },
    documentationUrl: `${addresses.web()}/llms.txt`,
    authentication: {
      required: true,
      schemes: ['bearer', 'oauth2'],
      resource_metadata: `${addresses.issuer()}${RESOURCE_METADATA_PATH}/mcp`,
      authorization_servers: [addresses.issuer()],
    },
    tools: mcp.tools,
  };
}

/** What this host offers to agents (AI Catalog), with a link to the server card. */
export function catalog(sources: Sources): object {
  const { addresses } = sources;
  const { title } = sources.contract().info;
  const urn = (what: string) => `urn:air:${publisher(addresses.web())}:${what}`;
  return {
    specVersion: '1.0',
    host: { displayName: title, documentationUrl: `${addresses.web()}/llms.txt` },
    entries: [
      {
        identifier: urn('server:latchkey'),
        displayName: `${title} MCP`,
        type: 'application/mcp-server-card+json',
        url: `${addresses.mcp()}/server-card`,
      },
      {
        identifier: urn('skill:auth'),
        displayName: `${title} authentication`,
        type: 'text/markdown',
        url: `${addresses.web()}/.well-known/agent-skills/auth/SKILL.md`,
      },
      {
        identifier: urn('api:latchkey'),
        displayName: `${title} API`,
        type: 'application/openapi+json',
        url: `${addresses.issuer()}/openapi.json`,
      },
    ],
  };
}

/** The name in reverse-DNS form. A literal address belongs to no domain. */
function serverName(webUrl: string): string {
  return `${publisher(webUrl).split('.').reverse().join('.')}/latchkey`;
}

function publisher(webUrl: string): string {
  const { hostname } = new URL(webUrl);
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) ? 'localhost' : hostname;
}
