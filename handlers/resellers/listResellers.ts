import type { Handler } from '../handler.ts';
import { toReseller } from './reseller.ts';

export const listResellers: Handler<'listResellers'> = async ({ query, actor }, { resellers }) => {
  const page = await resellers.list(actor.developerId, { limit: query.limit, cursor: query.cursor });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toReseller), next_cursor: page.nextCursor },
  };
};
