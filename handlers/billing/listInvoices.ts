import type { Handler } from '../handler.ts';
import { toInvoice } from './invoice.ts';

export const listInvoices: Handler<'listInvoices'> = async ({ query, actor }, { invoices }) => {
  const { limit, cursor } = query;
  const { data, nextCursor } = await invoices.list(actor.developerId, { limit, cursor });
  return { status: 200, body: { status: 'success', data: data.map(toInvoice), next_cursor: nextCursor } };
};
