import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toFile } from './file.ts';

export const listFiles: Handler<'listFiles'> = async ({ path, query, actor }, { files }) => {
  const page = await files.list(actor.developerId, path.app_id, { limit: query.limit, cursor: query.cursor });
  return toPage(page, toFile);
};
