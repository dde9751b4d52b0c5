import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toReseller } from './reseller.ts';

export const listResellers: Handler<'listResellers'> = async ({ query, actor }, { resellers }) => {
  const page = await resellers.list(actor.developerId, { limit: query.limit, cursor: query.cursor });
  return toPage(page, toReseller);
};
