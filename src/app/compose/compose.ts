import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { Document } from 'openapi-backend';
import { handlers } from '../../../handlers/registry.ts';
import { composeAccounts } from './accounts.ts';
import { composeAccess } from './access.ts';
import { composeCommerce } from './commerce.ts';
import { composeFoundation, type Environment } from './foundation.ts';
import { composeLicensing } from './licensing.ts';
import { composeMessaging } from './messaging.ts';
import { createDiscovery } from '../../access/discovery/discovery.ts';
import { applyBodyLimits } from '../../http/contract/body-limit.ts';
import { bindContract } from '../../http/contract/contract.ts';
import { protocolVersions, toolsOf } from '../../http/mcp/tools.ts';
import { createHttpServer } from '../../http/server/server.ts';
import type { PaymentProcessor } from '../../platform/payments/index.ts';
import type { Services } from '../../services.ts';

export interface Composition {
  readonly services: Services;
  readonly server: Server;
  readonly payments: PaymentProcessor;
}

/**
 * Creates all services on a migrated database, and the server on top of them. Each group of services gets those created
 * before it, and declares by type which of them it uses.
 */
export async function compose(environment: Environment): Promise<Composition> {
  const foundation = await composeFoundation(environment);
  const accounts = composeAccounts(foundation);
  const licensing = composeLicensing({ ...foundation, ...accounts });
  const commerce = composeCommerce({ ...foundation, ...accounts, ...licensing });
  const messaging = composeMessaging({ ...foundation, ...accounts, ...licensing });
  const access = composeAccess({ ...foundation, ...accounts, ...licensing, ...commerce, ...messaging });

  const { addresses, clock, config, metrics, payments, checkoutPage } = foundation;
  const document = JSON.parse(
    await readFile(new URL('../../../generated/openapi.json', import.meta.url), 'utf8'),
  ) as Document;
  applyBodyLimits(document, { FILE_MAX_BYTES: config.fileMaxBytes });
  const discovery = await createDiscovery({
    addresses,
    contract: () => ({
      ...document,
      servers: [{ url: foundation.baseUrl(), description: 'This server.' }],
    }),
    mcp: { tools: toolsOf(document).map(({ tool }) => tool), protocolVersions },
    authorizationServer: access.authorizationServer.metadata,
    trustsIssuers: access.agents.trustsIssuers,
    agentRevoked: access.securityEvents.agentRevoked,
  });
  const services: Services = {
    ...foundation,
    ...accounts,
    ...licensing,
    ...commerce,
    ...messaging,
    ...access,
    discovery,
  };
  metrics.watch(foundation);
  metrics.watchEvents({ ...foundation, ...messaging });
  metrics.watchSetAside({ ...foundation, ...messaging, ...access });

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
