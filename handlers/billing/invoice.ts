import type { components } from '../../generated/types.ts';
import type { Invoice } from '../../src/commerce/billing/billing.ts';

/** An invoice as the contract shows it. */
export function toInvoice(invoice: Invoice): components['schemas']['Invoice'] {
  return {
    invoice_id: invoice.invoiceId,
    developer_id: invoice.developerId,
    number: invoice.number,
    plan_id: invoice.planId,
    checkout_id: invoice.checkoutId,
    subscription_id: invoice.subscriptionId,
    state: invoice.state,
    amount: invoice.amount,
    refunded: invoice.refunded,
    currency: invoice.currency,
    period_start: invoice.periodStart?.toISOString() ?? null,
    period_end: invoice.periodEnd?.toISOString() ?? null,
    receipt_url: invoice.receiptUrl,
    created_at: invoice.createdAt.toISOString(),
  };
}
