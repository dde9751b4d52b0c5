import type { Handler } from '../handler.ts';
import { toFile } from './file.ts';

export const listFiles: Handler<'listFiles'> = async ({ path, query, actor }, { files }) => {
  const page = await files.list(actor.developerId, path.app_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toFile), next_cursor: page.nextCursor },
  };
};
