import { toApiToken } from '../tokens/api-token.ts';
import type { Handler } from '../handler.ts';

export const listResellerTokens: Handler<'listResellerTokens'> = async (
  { path, query, actor },
  { resellers },
) => {
  const page = await resellers.listTokens(actor.developerId, path.reseller_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toApiToken), next_cursor: page.nextCursor },
  };
};
