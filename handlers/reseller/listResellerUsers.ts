import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toResellerUser } from './account.ts';

export const listResellerUsers: Handler<'listResellerUsers'> = async (
  { query, resellerId },
  { resellerAccount },
) => {
  const page = await resellerAccount.listUsers(resellerId, { limit: query.limit, cursor: query.cursor });
  return toPage(page, toResellerUser);
};
