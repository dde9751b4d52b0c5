import type { Handler } from '../handler.ts';
import { toLedgerEntry } from '../resellers/reseller.ts';

export const listOwnLedger: Handler<'listOwnLedger'> = async ({ query, resellerId }, { resellerAccount }) => {
  const page = await resellerAccount.listLedger(resellerId, { limit: query.limit, cursor: query.cursor });
  return {
    status: 200,
    body: { status: 'success', data: page.data.map(toLedgerEntry), next_cursor: page.nextCursor },
  };
};
