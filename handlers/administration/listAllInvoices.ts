import { toInvoice } from '../billing/invoice.ts';
import type { Handler } from '../handler.ts';

export const listAllInvoices: Handler<'listAllInvoices'> = async ({ query }, { invoices }) => {
  const { limit, cursor, developer_id: developerId } = query;
  const { data, nextCursor } = await invoices.listAll(developerId, { limit, cursor });
  return { status: 200, body: { status: 'success', data: data.map(toInvoice), next_cursor: nextCursor } };
};
