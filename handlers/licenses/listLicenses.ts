import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toFilter, toLicense } from './license.ts';

export const listLicenses: Handler<'listLicenses'> = async ({ path, query, actor }, { licenses }) => {
  const { limit, cursor } = query;
  const page = await licenses.list(actor.developerId, path.app_id, { limit, cursor }, toFilter(query));
  return toPage(page, toLicense);
};
