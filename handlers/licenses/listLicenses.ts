import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toLicense } from './license.ts';

export const listLicenses: Handler<'listLicenses'> = async ({ path, query, actor }, { licenses }) => {
  const { limit, cursor, status, tier, reseller_id: resellerId, q } = query;
  const filter = { status, tier, resellerId, q };
  const page = await licenses.list(actor.developerId, path.app_id, { limit, cursor }, filter);
  return toPage(page, toLicense);
};
