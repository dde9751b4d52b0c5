import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toClient } from './client.ts';

export const listOAuthClients: Handler<'listOAuthClients'> = async ({ query, actor }, { oauthClients }) =>
  toPage(await oauthClients.list(actor.developerId, { limit: query.limit, cursor: query.cursor }), toClient);
