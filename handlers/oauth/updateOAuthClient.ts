import type { Handler } from '../handler.ts';
import { toClient } from './client.ts';

export const updateOAuthClient: Handler<'updateOAuthClient'> = async (
  { path, body, actor, scopes },
  { oauthClients },
) => {
  const client = await oauthClients.update(actor, scopes, path.client_id, {
    name: body.name,
    redirectUris: body.redirect_uris,
    postLogoutRedirectUris: body.post_logout_redirect_uris,
    scopes: body.scopes,
  });
  return { status: 200, body: { status: 'success', ...toClient(client) } };
};
