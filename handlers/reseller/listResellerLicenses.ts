import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toResellerLicense } from './account.ts';

export const listResellerLicenses: Handler<'listResellerLicenses'> = async (
  { query, resellerId },
  { resellerAccount },
) => {
  const { limit, cursor, status, app_id } = query;
  const page = await resellerAccount.listLicenses(resellerId, { status, appId: app_id }, { limit, cursor });
  return toPage(page, toResellerLicense);
};
