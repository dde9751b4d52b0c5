import type { Handler } from '../handler.ts';
import { toApiToken } from './api-token.ts';

export const listApiTokens: Handler<'listApiTokens'> = async ({ query, actor }, { apiTokens }) => {
  const page = await apiTokens.list(actor.developerId, null, { limit: query.limit, cursor: query.cursor });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toApiToken), next_cursor: page.nextCursor },
  };
};
