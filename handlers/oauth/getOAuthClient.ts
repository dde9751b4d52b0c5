import type { Handler } from '../handler.ts';
import { toClient } from './client.ts';

export const getOAuthClient: Handler<'getOAuthClient'> = async ({ path, actor }, { oauthClients }) => {
  const client = await oauthClients.get(actor.developerId, path.client_id);
  return { status: 200, body: { status: 'success', ...toClient(client) } };
};
