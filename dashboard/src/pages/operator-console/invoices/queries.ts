import { useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../../api/pages.ts';

export type Invoice = Schemas['Invoice'];

/** The invoices of all developers, or of one. */
export const useInvoices = (developerId: string | undefined) =>
  useCursorList(['admin', 'invoices', developerId], (cursor, signal) =>
    call('GET /api/v2/admin/invoices', {
      query: {
        limit: PAGE_SIZE,
        ...(developerId && { developer_id: developerId }),
        ...(cursor && { cursor }),
      },
      signal,
    }),
  );

export function useInvoicesChanged(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['admin', 'invoices'] }),
      client.invalidateQueries({ queryKey: ['admin', 'revenue'] }),
    ]);
}

/**
 * Refunds a part, or without an amount all that remains. Without an `Idempotency-Key` the service refunds the same
 * amount once until the processor has confirmed it, so that a second click does not pay twice.
 */
export const refund = (invoiceId: string, amount: number | undefined) =>
  call('POST /api/v2/admin/invoices/{invoice_id}/refunds', {
    path: { invoice_id: invoiceId },
    body: amount === undefined ? {} : { amount },
  });
