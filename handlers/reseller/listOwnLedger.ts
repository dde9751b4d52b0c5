import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toLedgerEntry } from '../resellers/reseller.ts';

export const listOwnLedger: Handler<'listOwnLedger'> = async ({ query, resellerId }, { resellerAccount }) => {
  const page = await resellerAccount.listLedger(resellerId, { limit: query.limit, cursor: query.cursor });
  return toPage(page, toLedgerEntry);
};
