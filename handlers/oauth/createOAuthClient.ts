import type { Handler } from '../handler.ts';
import { toClient } from './client.ts';

export const createOAuthClient: Handler<'createOAuthClient'> = async (
  { body, actor, scopes },
  { oauthClients },
) => {
  const { client, secret } = await oauthClients.create(actor, scopes, {
    name: body.name,
    applicationType: body.application_type ?? 'web',
    redirectUris: body.redirect_uris ?? [],
    postLogoutRedirectUris: body.post_logout_redirect_uris ?? [],
    grantTypes: body.grant_types,
    scopes: body.scopes,
    tokenEndpointAuthMethod: body.token_endpoint_auth_method ?? 'client_secret_basic',
  });
  return {
    status: 201,
    body: { status: 'success', ...toClient(client), ...(secret !== undefined && { client_secret: secret }) },
  };
};
