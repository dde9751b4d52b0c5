import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toVariable } from './variable.ts';

export const listVariables: Handler<'listVariables'> = async ({ path, query, actor }, { variables }) => {
  const page = await variables.list(actor.developerId, path.app_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return toPage(page, toVariable);
};
