import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toApiToken } from './api-token.ts';

export const listApiTokens: Handler<'listApiTokens'> = async ({ query, actor }, { apiTokens }) => {
  const page = await apiTokens.list(actor.developerId, null, { limit: query.limit, cursor: query.cursor });
  return toPage(page, toApiToken);
};
