import type { Handler } from '../handler.ts';

export const rotateOAuthClientSecret: Handler<'rotateOAuthClientSecret'> = async (
  { path, actor, scopes },
  { oauthClients },
) => {
  const secret = await oauthClients.rotateSecret(actor, scopes, path.client_id);
  return { status: 200, body: { status: 'success', client_id: path.client_id, client_secret: secret } };
};
