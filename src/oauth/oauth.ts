import type { ApiTokens } from '../api-tokens/api-tokens.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { createAuthorizationServer } from './authorization-server.ts';
import { createAuthorizations, type Authorizations } from './authorizations.ts';
import { createOAuthClients, type OAuthClients } from './clients.ts';
import { createIssuance } from './issuance.ts';
import type { ProviderDependencies } from './library.ts';
import { createRecords } from './records.ts';
import { createRegisteredClients } from './registered-clients.ts';

export type { AuthorizationServer } from './authorization-server.ts';
export type { Authorization, Authorizations } from './authorizations.ts';
export type { OAuthClient, OAuthClients } from './clients.ts';

type Given = Omit<ProviderDependencies, 'records' | 'registeredClients' | 'issuance'> &
  Parameters<typeof createRecords>[0] & { readonly apiTokens: Pick<ApiTokens, 'holdMaker'> };

/** The authorization server with its clients and what developers have consented to. */
export function createOAuth(given: Given): {
  readonly authorizationServer: AuthorizationServer;
  readonly oauthClients: OAuthClients;
  readonly authorizations: Authorizations;
} {
  const registeredClients = createRegisteredClients(given);
  const records = createRecords(given);
  const before = { ...given, registeredClients, records };
  const authorizationServer = createAuthorizationServer({ ...before, issuance: createIssuance(before) });
  return {
    authorizationServer,
    oauthClients: createOAuthClients({ ...before, authorizationServer }),
    authorizations: createAuthorizations(before),
  };
}
