import type { Handler } from '../handler.ts';
import { toPage } from '../page.ts';
import { toLedgerEntry } from './reseller.ts';

export const listResellerLedger: Handler<'listResellerLedger'> = async (
  { path, query, actor },
  { resellers },
) => {
  const page = await resellers.listLedger(actor.developerId, path.reseller_id, {
    limit: query.limit,
    cursor: query.cursor,
  });
  return toPage(page, toLedgerEntry);
};
