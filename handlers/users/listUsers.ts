import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toFilter, toUser } from './user.ts';

export const listUsers: Handler<'listUsers'> = async ({ path, query, actor }, { userDirectory }) => {
  const page = await userDirectory.list(actor.developerId, path.app_id, toFilter(query), {
    limit: query.limit,
    cursor: query.cursor,
  });
  return toPage(page, toUser);
};
