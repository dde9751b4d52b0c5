import type { Handler } from '../handler.ts';
import { toBan } from './ban.ts';

export const listBans: Handler<'listBans'> = async ({ path, query, actor }, { moderation }) => {
  const page = await moderation.list(actor.developerId, path.app_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toBan), next_cursor: page.nextCursor },
  };
};
