import { MCP_PATH, RESOURCE_METADATA_PATH } from '../../foundation/addresses/addresses.ts';
import { agentRevokedSchema } from './event-schema.ts';
import { loadGuides } from './guides.ts';
import { catalog, manifest, serverCard } from './mcp.ts';
import { apiResource, mcpResource } from './resource-metadata.ts';
import { serverMetadata } from './server-metadata.ts';
import { SKILLS_PATH, skillIndex } from './skills.ts';
import type { Sources } from './sources.ts';

/** A public document. */
export interface Published {
  readonly mediaType: string;
  readonly text: string;
}

/** Documents by which programs discover the service, built from the configuration and the contract. */
export interface Discovery {
  /** The paths of the documents. */
  readonly paths: readonly string[];
  /**
   * @param path one of `paths`
   * @param host the request's `Host`
   */
  read(path: string, host: string | undefined): Promise<Published>;
}

/** The paths of all documents. */
export const DISCOVERY_PATHS = [
  RESOURCE_METADATA_PATH,
  `${RESOURCE_METADATA_PATH}${MCP_PATH}`,
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/.well-known/mcp/manifest.json',
  '/.well-known/mcp/server-card.json',
  `${MCP_PATH}/server-card`,
  '/.well-known/ai-catalog.json',
  `${SKILLS_PATH}/index.json`,
  `${SKILLS_PATH}/auth/SKILL.md`,
  '/auth.md',
  '/llms.txt',
  '/schemas/events/agent-revoked',
  '/openapi.json',
] as const;

const JSON_TYPE = 'application/json';
const MARKDOWN = 'text/markdown; charset=utf-8';
const SERVER_CARD = 'application/mcp-server-card+json';

export async function createDiscovery(sources: Sources): Promise<Discovery> {
  const { addresses } = sources;
  const fill = await loadGuides();
  const guides = () => fill(addresses, sources.trustsIssuers);
  // Cached, because it is long and does not change once the base URL is known.
  let openapi: Published | undefined;

  const documents: Readonly<
    Record<(typeof DISCOVERY_PATHS)[number], (host: string | undefined) => Promise<Published> | Published>
  > = {
    [RESOURCE_METADATA_PATH]: async (host) => json(await apiResource(sources, addresses.resource(host))),
    [`${RESOURCE_METADATA_PATH}${MCP_PATH}`]: async () => json(await mcpResource(sources)),
    '/.well-known/oauth-authorization-server': async () => json(await serverMetadata(sources)),
    '/.well-known/openid-configuration': async () => json(await serverMetadata(sources)),
    '/.well-known/mcp/manifest.json': async () => json(await manifest(sources)),
    '/.well-known/mcp/server-card.json': async () => json(await serverCard(sources), SERVER_CARD),
    [`${MCP_PATH}/server-card`]: async () => json(await serverCard(sources), SERVER_CARD),
    '/.well-known/ai-catalog.json': () => json(catalog(sources), 'application/ai-catalog+json'),
    [`${SKILLS_PATH}/index.json`]: () => json(skillIndex({ auth: guides().skill })),
    [`${SKILLS_PATH}/auth/SKILL.md`]: () => ({ mediaType: MARKDOWN, text: guides().skill }),
    '/auth.md': () => ({ mediaType: MARKDOWN, text: guides().auth }),
    '/llms.txt': () => ({ mediaType: 'text/plain; charset=utf-8', text: guides().llms }),
    '/schemas/events/agent-revoked': () => json(agentRevokedSchema(sources), 'application/schema+json'),
    '/openapi.json': () => (openapi ??= json(sources.contract())),
  };

  return {
    paths: DISCOVERY_PATHS,
    read: async (path, host) => documents[path as keyof typeof documents](host),
  };
}

function json(document: object, mediaType = JSON_TYPE): Published {
  return { mediaType, text: JSON.stringify(document) };
}
