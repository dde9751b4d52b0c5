import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, type Schemas } from '../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../api/pages.ts';
import { lastDays } from '../../lib/days.ts';
import { RESELLERS_KEY } from '../resellers/queries.ts';

export type Price = Schemas['ResellerPrice'];
export type LedgerEntry = Schemas['LedgerEntry'];

/** The most days of one request. */
const AT_MOST = 366;

const keyOf = (resellerId: string) => [...RESELLERS_KEY, resellerId];

export const resellerQuery = (resellerId: string) =>
  queryOptions({
    queryKey: keyOf(resellerId),
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/resellers/{reseller_id}', { path: { reseller_id: resellerId }, signal }),
  });

/** The sales of the last days, and of as many days before them, if one request can have both. */
export const salesQuery = (resellerId: string, days: number) => {
  const query = lastDays(Math.min(days * 2, AT_MOST));
  return queryOptions({
    queryKey: [...keyOf(resellerId), 'sales', query],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/resellers/{reseller_id}/statistics', {
        path: { reseller_id: resellerId },
        query,
        signal,
      }),
    placeholderData: keepPreviousData,
  });
};

export const pricesQuery = (resellerId: string) =>
  queryOptions({
    queryKey: [...keyOf(resellerId), 'prices'],
    queryFn: ({ signal }) =>
      call('GET /api/v2/dev/resellers/{reseller_id}/prices', { path: { reseller_id: resellerId }, signal }),
  });

export const useLedger = (resellerId: string) =>
  useCursorList([...keyOf(resellerId), 'ledger'], (cursor, signal) =>
    call('GET /api/v2/dev/resellers/{reseller_id}/ledger', {
      path: { reseller_id: resellerId },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );

export const useResellerTokens = (resellerId: string) =>
  useCursorList([...keyOf(resellerId), 'tokens'], (cursor, signal) =>
    call('GET /api/v2/dev/resellers/{reseller_id}/tokens', {
      path: { reseller_id: resellerId },
      query: { limit: PAGE_SIZE, ...(cursor && { cursor }) },
      signal,
    }),
  );

/** The changes of one reseller. */
export function resellerActions(resellerId: string) {
  const path = { reseller_id: resellerId };
  return {
    update: (body: Schemas['UpdateResellerRequest']) =>
      call('PATCH /api/v2/dev/resellers/{reseller_id}', { path, body }),
    delete: () => call('DELETE /api/v2/dev/resellers/{reseller_id}', { path }),
    setPrices: (prices: Schemas['SetResellerPricesRequest']['prices']) =>
      call('PUT /api/v2/dev/resellers/{reseller_id}/prices', { path, body: { prices } }),
    credit: (body: Schemas['ChangeResellerBalanceRequest']) =>
      call('POST /api/v2/dev/resellers/{reseller_id}/credits', { path, body, once: true }),
    debit: (body: Schemas['ChangeResellerBalanceRequest']) =>
      call('POST /api/v2/dev/resellers/{reseller_id}/debits', { path, body, once: true }),
    createToken: (body: Schemas['CreateResellerTokenRequest']) =>
      call('POST /api/v2/dev/resellers/{reseller_id}/tokens', { path, body, once: true }),
    deleteToken: (tokenId: string) =>
      call('DELETE /api/v2/dev/resellers/{reseller_id}/tokens/{token_id}', {
        path: { ...path, token_id: tokenId },
      }),
  };
}
