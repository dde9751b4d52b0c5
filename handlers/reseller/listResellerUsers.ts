import type { Handler } from '../handler.ts';
import { toResellerUser } from './account.ts';

export const listResellerUsers: Handler<'listResellerUsers'> = async (
  { query, resellerId },
  { resellerAccount },
) => {
  const page = await resellerAccount.listUsers(resellerId, { limit: query.limit, cursor: query.cursor });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toResellerUser), next_cursor: page.nextCursor },
  };
};
