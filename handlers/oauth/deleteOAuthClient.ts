import type { Handler } from '../handler.ts';

export const deleteOAuthClient: Handler<'deleteOAuthClient'> = async ({ path, actor }, { oauthClients }) => {
  await oauthClients.delete(actor, path.client_id);
  return { status: 200, body: { status: 'success', message: 'Client deleted.' } };
};
