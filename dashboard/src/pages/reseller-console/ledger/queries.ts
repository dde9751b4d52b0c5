import { call, type Schemas } from '../../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../../api/pages.ts';

export type LedgerEntry = Schemas['LedgerEntry'];

export const useLedger = () =>
  useCursorList(['reseller', 'ledger'], (cursor, signal) =>
    call('GET /api/v2/dev/reseller/ledger', {
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );
