import { toInvoice } from '../billing/invoice.ts';
import type { Handler } from '../handler.ts';

export const refundInvoice: Handler<'refundInvoice'> = async (
  { path, body, actor, headers },
  { invoices },
) => {
  const invoice = await invoices.refund(actor, path.invoice_id, body.amount, headers['idempotency-key']);
  return { status: 200, body: { status: 'success', ...toInvoice(invoice) } };
};
