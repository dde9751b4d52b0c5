import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toBan } from './ban.ts';

export const listBans: Handler<'listBans'> = async ({ path, query, actor }, { moderation }) => {
  const page = await moderation.list(actor.developerId, path.app_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return toPage(page, toBan);
};
