import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { createAuthorizationServer } from './authorization-server.ts';
import { createAuthorizations, type Authorizations } from './authorizations.ts';
import { createOAuthClients, type OAuthClients } from './clients.ts';
import { createIssuance } from './issuance.ts';
import type { ProviderDependencies } from './provider-dependencies.ts';
import { createRecords } from './records.ts';
import { createRegisteredClients } from './registered-clients.ts';

export type { AuthorizationServer } from './authorization-server.ts';
export type { Authorization, Authorizations } from './authorizations.ts';
export type { OAuthClient, OAuthClients } from './clients.ts';

type Dependencies = Omit<ProviderDependencies, 'records' | 'registeredClients' | 'issuance'> &
  Parameters<typeof createRecords>[0] & { readonly apiTokens: Pick<ApiTokens, 'lockMakerForShare'> };

/** The authorization server with its clients and their authorizations. */
export function createOAuth(deps: Dependencies): {
  readonly authorizationServer: AuthorizationServer;
  readonly oauthClients: OAuthClients;
  readonly authorizations: Authorizations;
} {
  const registeredClients = createRegisteredClients(deps);
  const records = createRecords(deps);
  const shared = { ...deps, registeredClients, records };
  const authorizationServer = createAuthorizationServer({ ...shared, issuance: createIssuance(shared) });
  return {
    authorizationServer,
    oauthClients: createOAuthClients({ ...shared, authorizationServer }),
    authorizations: createAuthorizations(shared),
  };
}
