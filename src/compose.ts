import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Document } from 'openapi-backend';
import { handlers } from '../handlers/index.ts';
import { createCluster } from './cluster/cluster.ts';
import { composeAccounts } from './compose/accounts.ts';
import { composeAgents } from './compose/agents.ts';
import { composeBilling } from './compose/billing.ts';
import { composeFoundation, type Surroundings } from './compose/foundation.ts';
import { composeLicensing } from './compose/licensing.ts';
import { composeMessages } from './compose/messages.ts';
import { composeProducts } from './compose/products.ts';
import { createDiscovery } from './discovery/discovery.ts';
import { createHealth } from './health/health.ts';
import { bindContract } from './http/contract.ts';
import { protocolVersions, toolsOf } from './http/mcp/tools.ts';
import { createHttpServer } from './http/server.ts';
import type { Payments } from './platform/payments/index.ts';
import { createRestoration } from './restoration/restoration.ts';
import { createSandbox } from './sandbox/sandbox.ts';
import type { Services } from './services.ts';

export interface Composition {
  readonly services: Services;
  readonly server: Server;
  readonly payments: Payments;
}

/**
 * Constructs every service, on a migrated database, and the server over them. Each group of services is handed what was
 * there before it, and takes of that what it asks for by type.
 */
export async function compose(surroundings: Surroundings): Promise<Composition> {
  const foundation = await composeFoundation(surroundings);
  const accounts = composeAccounts(foundation);
  const licensing = composeLicensing({ ...foundation, ...accounts });
  const products = composeProducts({ ...foundation, ...accounts, ...licensing });
  const { payments, checkoutPage, ...billing } = await composeBilling({
    ...foundation,
    ...accounts,
    ...licensing,
    ...products,
  });
  const messages = composeMessages({ ...foundation, ...accounts, ...licensing, ...products });
  const agents = composeAgents({ ...foundation, ...accounts, ...messages, payments });
  const all = { ...foundation, ...accounts, ...licensing, ...products, ...billing, ...messages };

  const { tokens, keys, clock, limits, metrics, passwords, vpn, config } = foundation;
  const { addresses, audit, signingKeys } = foundation;
  const cluster = createCluster(all);
  const document = JSON.parse(
    await readFile(new URL('../generated/openapi.json', import.meta.url), 'utf8'),
  ) as Document;
  limitUploads(document, config.fileMaxBytes);
  const discovery = await createDiscovery({
    addresses,
    contract: () => ({
      ...document,
      servers: [{ url: foundation.baseUrl(), description: 'This server.' }],
    }),
    mcp: { tools: toolsOf(document).map(({ tool }) => tool), protocolVersions },
    authorizationServer: agents.authorizationServer.metadata,
    trustsIssuers: agents.agents.trustsIssuers,
    agentRevoked: agents.securityEvents.agentRevoked,
  });
  const services: Services = {
    ...accounts,
    ...licensing,
    ...products,
    ...billing,
    ...messages,
    ...agents,
    addresses,
    audit,
    discovery,
    signingKeys,
    limits,
    metrics,
    passwords,
    vpn,
    cluster,
    health: createHealth({ ...all, cluster }),
    restoration: createRestoration({ ...agents, clock }),
    sandbox: createSandbox(tokens, keys, clock),
  };
  metrics.watch(all);
  metrics.watchEvents(all);
  metrics.watchSetAside({ ...all, ...agents, payments });

  const contract = await bindContract(structuredClone(document), handlers, services, () => clock.now());
  const server = createHttpServer({
    ...foundation,
    contract,
    document,
    checkoutPage,
    services,
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    isPublic: config.baseUrl !== undefined || config.trustedProxies.length > 0,
  });
  return { services, server, payments };
}

/** The contract says how large a file may be unless the configuration does. */
function limitUploads(document: Document, bytes: number): void {
  const { put } = document.paths!['/api/v2/dev/apps/{app_id}/files/{file_name}']!;
  Object.assign(put!, { 'x-max-bytes': bytes });
}
