import { createTokenSessions } from '../../access/browser-sessions/token-sessions.ts';
import { createBrowserSessions } from '../../access/browser-sessions/browser-sessions.ts';
import { createAccessTokens } from '../../access/access-tokens/access-tokens.ts';
import { createInstallation } from '../../access/administration/installation.ts';
import { createDeveloperAccounts } from '../../access/administration/developer-accounts.ts';
import { createAgents } from '../../access/agents/agents.ts';
import { createBearerTokens } from '../../access/bearer-tokens/bearer-tokens.ts';
import { createDeveloperPasswords } from '../../access/developer-passwords/developer-passwords.ts';
import { createOAuth } from '../../access/oauth/oauth.ts';
import { createOutboundHttp } from '../../platform/outbound-http/index.ts';
import { createRestoration } from '../../access/restoration/restoration.ts';
import { createSandbox } from '../../access/sandbox/sandbox.ts';
import { createSecurityEvents } from '../../access/security-events/security-events.ts';
import { migrationState } from '../../migrations/index.ts';
import type { Accounts } from './accounts.ts';
import type { Foundation } from './foundation.ts';
import type { Commerce } from './commerce.ts';
import type { Licensing } from './licensing.ts';
import type { Messaging } from './messaging.ts';

/** How agents and OAuth clients gain access, and how developers revoke it. */
export function composeAccess(before: Foundation & Accounts & Licensing & Commerce & Messaging) {
  const { config, database, tokens, keys, clock } = before;
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
  const bearerTokens = createBearerTokens({ ...before, accessTokens, agents });
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
    securityEvents,
    accessTokens,
    agents,
    bearerTokens,
    browserSessions: createBrowserSessions({
      ...before,
      tokenSessions: createTokenSessions(before),
      webUrl: before.addresses.web,
    }),
    developerAccounts: createDeveloperAccounts(before),
    installation: createInstallation({
      ...before,
      securityEvents,
      migrations: () => migrationState(before.knex),
    }),
    sandbox: createSandbox(tokens, keys, clock),
    restoration: createRestoration({ ...oauth, clock }),
    ...oauth,
    developerPasswords: createDeveloperPasswords({ ...before, ...oauth, inOneTransaction, agents }),
  };
}
