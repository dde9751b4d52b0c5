import type { components } from '../../generated/types.ts';
import type { OAuthClient } from '../../src/access/oauth/oauth.ts';

/** A client as the contract shows it. */
export function toClient(client: OAuthClient): components['schemas']['OAuthClient'] {
  return {
    client_id: client.clientId,
    name: client.name,
    application_type: client.applicationType,
    redirect_uris: [...client.redirectUris],
    post_logout_redirect_uris: [...client.postLogoutRedirectUris],
    grant_types: [...client.grantTypes],
    scopes: [...client.scopes],
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
  };
}
