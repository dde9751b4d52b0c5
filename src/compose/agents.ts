import { createAccessTokens } from '../access-tokens/access-tokens.ts';
import { createAgents } from '../agents/agents.ts';
import { createBearerTokens } from '../bearer-tokens/bearer-tokens.ts';
import { createMachinePayments } from '../machine-payments/machine-payments.ts';
import { createDeveloperPasswords } from '../developer-passwords/developer-passwords.ts';
import { createOAuth } from '../oauth/oauth.ts';
import { createOutboundHttp } from '../platform/outbound-http/index.ts';
import type { Payments } from '../platform/payments/index.ts';
import { createSecurityEvents } from '../security-events/security-events.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Messages } from './messages.ts';

/** Whom the embedded test processor's payment tokens are made out to. */
const TEST_NETWORK = 'latchkey-test';

/** What programs do that act by themselves, and how developers end it. */
export function composeAgents(before: Foundation & Accounts & Messages & { readonly payments: Payments }) {
  const { config, database, payments } = before;
  const networkId = payments.processor === 'test' ? TEST_NETWORK : config.stripe?.networkId;
  const machinePayments = createMachinePayments({ ...before, networkId });
  const securityEvents = createSecurityEvents({
    ...before,
    outbound: createOutboundHttp({ networks: config.webhookNetworks }),
  });
  const accessTokens = createAccessTokens(before);
  const agents = createAgents({
    ...before,
    accessTokens,
    securityEvents,
    trustedIssuers: config.agentIssuers,
    outbound: createOutboundHttp({ networks: config.agentIssuerNetworks }),
  });
  const bearerTokens = createBearerTokens({ ...before, accessTokens, agents, machinePayments });
  const outbound = createOutboundHttp({ networks: config.clientIdNetworks });
  const { inOneTransaction } = database;
  const { trustedClients } = config;
  const oauth = createOAuth({
    ...before,
    inOneTransaction,
    accessTokens,
    agents,
    bearerTokens,
    outbound,
    trustedClients,
  });
  return {
    machinePayments,
    securityEvents,
    accessTokens,
    agents,
    bearerTokens,
    ...oauth,
    developerPasswords: createDeveloperPasswords({ ...before, ...oauth, inOneTransaction, agents }),
  };
}
