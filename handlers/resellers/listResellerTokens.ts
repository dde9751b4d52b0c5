import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toApiToken } from '../tokens/api-token.ts';

export const listResellerTokens: Handler<'listResellerTokens'> = async (
  { path, query, actor },
  { resellers },
) => {
  const page = await resellers.listTokens(actor.developerId, path.reseller_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return toPage(page, toApiToken);
};
