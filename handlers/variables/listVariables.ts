import type { Handler } from '../handler.ts';
import { toVariable } from './variable.ts';

export const listVariables: Handler<'listVariables'> = async ({ path, query, actor }, { variables }) => {
  const page = await variables.list(actor.developerId, path.app_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toVariable), next_cursor: page.nextCursor },
  };
};
