import type { InvoiceFact, SubscriptionFact } from '../payment-fact.ts';
import { receiptNumber, receiptUrl } from './receipt.ts';
import type { InvoiceRow, SubscriptionRow } from './subscription-store.ts';

/** A subscription as an event describes it. */
export function subscriptionFact(row: SubscriptionRow): SubscriptionFact {
  return {
    kind: 'subscription',
    subscriptionRef: row.subscription_ref,
    reference: row.reference,
    state: row.state,
    productId: row.product_id,
    amountMinor: row.amount_minor,
    currency: row.currency,
    customerRef: row.customer_ref,
    periodEnd: row.period_end,
    cancelAtPeriodEnd: row.cancel_at_period_end,
    asOf: row.as_of,
  };
}

/** An invoice as an event describes it. @param of its subscription */
export function invoiceFact(row: InvoiceRow, of: SubscriptionRow, webUrl: string): InvoiceFact {
  return {
    kind: 'invoice',
    invoiceRef: row.invoice_ref,
    subscriptionRef: row.subscription_ref,
    reference: of.reference,
    state: row.state,
    reason: row.reason,
    amountMinor: row.amount_minor,
    currency: row.currency,
    paymentRef: row.payment_ref,
    number: receiptNumber('IN', row.sequence),
    periodStart: row.period_start,
    periodEnd: row.period_end,
    receiptUrl: row.state === 'paid' ? receiptUrl(webUrl, of.session_ref) : null,
  };
}
